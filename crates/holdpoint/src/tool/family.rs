//! What differs between families of tools, said by the tools: never cut from a name.

use std::borrow::Cow;

use rmcp::model::JsonObject;

/// Tools that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Family {
    /// What `--toolset` calls them.
    pub(crate) name: Cow<'static, str>,
    /// How they answer, where a tool does not say otherwise.
    pub(crate) form: AnswerForm,
    /// They are about programs: each call begins with what an earlier server left of those, and its relative
    /// paths begin where the client works.
    pub(crate) about_programs: bool,
}

/// How a tool answers, and what it does with parameters that it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    /// Text for a model. A failure is `[E_CODE] what happened` and a hint; an unknown parameter is one.
    Words,
    /// Everything in JSON, failures too. Unknown parameters are passed over with a note.
    Json,
    /// JSON, but words where one of these parameters is given.
    JsonUnless(&'static [&'static str]),
}

impl AnswerForm {
    /// Whether a call with these parameters is answered in JSON.
    pub(super) fn is_json(self, arguments: &JsonObject) -> bool {
        let given = |name: &&str| arguments.get(*name).is_some_and(|value| !value.is_null());
        match self {
            AnswerForm::Words => false,
            AnswerForm::Json => true,
            AnswerForm::JsonUnless(words_with) => !words_with.iter().any(given),
        }
    }
}

//! Events without secrets: whatever a program said in one is looked at before the log takes it.

use super::{Event, TraceHit};
use crate::secrets::Secrets;

impl Event {
    /// Only what a program, an app or a person wrote; our own words and names hold none.
    pub(crate) fn conceal(&mut self, secrets: &Secrets) {
        match self {
            Event::Note { text, .. } | Event::Output { text, .. } => clean(secrets, text),
            Event::Stopped(at) => at.text.iter_mut().for_each(|text| clean(secrets, text)),
            Event::SessionStarted { name, .. } => clean(secrets, name),
            Event::EditorSession(it) => clean(secrets, &mut it.name),
            Event::SessionEnded { exit: text, .. }
            | Event::ProcessEnded { reason: text, .. }
            | Event::BreakpointUnbound { why: text, .. }
            | Event::CallPaused { line: text, .. }
            | Event::CallLost { why: text, .. }
            | Event::ExternalServer { detail: text, .. }
            | Event::ExternalLog { text, .. } => clean(secrets, text),
            Event::TracepointHit(hit) => hit.conceal(secrets),
            Event::Evaluated(it) => {
                it.result = secrets.named(&it.expression, &it.result).into_owned();
                clean(secrets, &mut it.expression);
            }
            Event::ReplChanged { expression, result, .. } => {
                *result = secrets.named(expression, result).into_owned();
                clean(secrets, expression);
            }
            _ => {}
        }
    }
}

impl TraceHit {
    fn conceal(&mut self, secrets: &Secrets) {
        for traced in &mut self.values {
            let Some(value) = &mut traced.value else { continue };
            let std::borrow::Cow::Owned(clean) = secrets.named(&traced.expression, value) else {
                continue;
            };
            // A template may show it under no name.
            if let Some(message) = self.message.as_mut().filter(|_| !value.is_empty()) {
                *message = message.replace(&**value, &clean);
            }
            *value = clean;
        }
        self.message.iter_mut().for_each(|message| clean(secrets, message));
    }
}

fn clean(secrets: &Secrets, text: &mut String) {
    if let std::borrow::Cow::Owned(clean) = secrets.text(text) {
        *text = clean;
    }
}

//! Functions, classes and the module itself: a frame is begun and ended around each body.
//!
//! The body stays where it is; nothing is moved into another function, so `this`, `super`, `arguments`, `yield` and
//! `await` mean what they meant.

use oxc_ast::ast::{
    ArrowFunctionBody, ArrowFunctionExpression, Class, FormalParameters, Function, FunctionBody,
    MethodDefinition, MethodDefinitionKind, ObjectProperty, Program, PropertyKind, Statement,
    StaticBlock,
};
use oxc_ast_visit::{Visit as _, walk};
use oxc_span::{GetSpan as _, Span};
use oxc_syntax::scope::ScopeFlags;

use crate::Goal;
use crate::names::parameters;
use crate::probes::{Frame, Probes};
use crate::table::{ProbedFunction, flags};

/// A parameter list beyond this is told by its first ones.
const PARAMETERS_MAX: usize = 24;

/// What a frame is begun with.
struct Begun {
    name: String,
    flags: u32,
    span: Span,
    /// Expressions that say the parameters, and what they are called.
    given: Vec<String>,
    suspends: bool,
    derived: bool,
    arrow: bool,
}

impl Probes<'_> {
    pub(crate) fn module(&mut self, it: &Program<'_>) {
        let Some(first) = it.body.first() else { return };
        let suspends = self.goal == Goal::Module;
        let begin = it.directives.last().map_or(first.span().start, |directive| directive.span.end);
        if self.goal == Goal::Script {
            // Whoever runs a script wants its value: nothing may stand behind its last statement.
            self.frames.push(None);
            self.list(&it.body);
            self.frames.pop();
            return;
        }
        self.open(Begun {
            name: "<module>".to_owned(),
            flags: flags::MODULE,
            span: it.span,
            given: Vec::new(),
            suspends,
            derived: false,
            arrow: false,
        });
        let call = self.begin_probe(&[]);
        self.put(begin, format!(";const $hpd={call};"));
        self.list(&it.body);
        let close = if suspends { ";$hp.gr($hpd,void 0);" } else { ";$hp.r($hpd,void 0);" };
        self.put(it.body.last().map_or(begin, |last| last.span().end), close);
        self.close();
    }

    pub(crate) fn function(&mut self, it: &Function<'_>, scope: ScopeFlags) {
        let Some(body) = &it.body else { return };
        let hint = self.hint.take();
        let name = it.id.as_ref().map(|id| id.name.as_str().to_owned()).or(hint);
        let mut kind = if it.generator { flags::GENERATOR } else { 0 }
            | if it.r#async { flags::ASYNC } else { 0 };
        if scope.contains(ScopeFlags::Constructor) {
            kind |= flags::CONSTRUCTOR;
        }
        self.plain_function(it, body, name, kind, false);
    }

    fn plain_function(
        &mut self,
        it: &Function<'_>,
        body: &FunctionBody<'_>,
        name: Option<String>,
        kind: u32,
        derived: bool,
    ) {
        let test = self.test.take();
        let suspends = it.generator || it.r#async;
        let inside = self.slice(body.span);
        let mut given = Vec::new();
        let method = kind & (flags::METHOD | flags::CONSTRUCTOR) != 0;
        if !derived && (method || inside.contains("this")) {
            given.push("this".to_owned());
        }
        given.extend(parameters(&it.params));
        if uses_arguments(inside) && !given.iter().any(|name| name == "arguments") {
            given.push("arguments".to_owned());
        }
        self.visit_formal_parameters(&it.params);
        let name = function_name(name, test.as_deref());
        self.open(Begun {
            name,
            flags: kind | rest(&it.params),
            span: it.span,
            given,
            suspends,
            derived,
            arrow: false,
        });
        self.say_test(test);
        self.braced(body);
        self.close();
    }

    pub(crate) fn arrow(&mut self, it: &ArrowFunctionExpression<'_>) {
        let test = self.test.take();
        let name = function_name(self.hint.take(), test.as_deref());
        let inside = self.slice(it.body.span());
        let mut given = Vec::new();
        // Before `super` there is no `this`, and asking for it throws.
        let unsure = self.frames.iter().flatten().any(|frame| frame.derived);
        if inside.contains("this") && !unsure {
            given.push("this".to_owned());
        }
        given.extend(parameters(&it.params));
        self.visit_formal_parameters(&it.params);
        let kind = if it.r#async { flags::ASYNC } else { 0 };
        self.open(Begun {
            name,
            flags: kind | rest(&it.params),
            span: it.span,
            given,
            suspends: it.r#async,
            derived: false,
            arrow: true,
        });
        self.say_test(test);
        match &it.body {
            ArrowFunctionBody::FunctionBody(body) => self.braced(body),
            body => {
                if let Some(expression) = body.as_expression() {
                    self.unbraced(expression);
                }
            }
        }
        self.close();
    }

    /// An arrow's expression becomes a body that returns it.
    fn unbraced(&mut self, it: &oxc_ast::ast::Expression<'_>) {
        let span = it.span();
        let line = self.lines.of(span.start);
        let given = self.given();
        let call = self.begin_probe(&given);
        let (line, leave) = if self.suspends() {
            (format!("$hp.gl($hpd,{line})"), "$hp.gr($hpd,")
        } else {
            (format!("$hp.l({line})"), "$hp.r($hpd,")
        };
        self.put(span.start, format!("{{const $hpd={call};try{{{line};return {leave}"));
        self.visit_expression(it);
        let unwind = self.unwind_probe();
        self.put(span.end, format!(")}}catch($hpe){{throw {unwind}}}}}"));
    }

    /// A body in braces, tried as a whole so that its end is seen whichever it is.
    fn braced(&mut self, it: &FunctionBody<'_>) {
        let begin = it.directives.last().map_or(it.span.start + 1, |directive| directive.span.end);
        let tried = !clashes(&it.statements);
        let given = self.given();
        let call = self.begin_probe(&given);
        let semicolon = if it.directives.is_empty() { "" } else { ";" };
        let open = if tried { "try{" } else { "" };
        self.put(begin, format!("{semicolon}const $hpd={call};{open}"));
        self.fresh = None;
        self.list(&it.statements);
        let close = self.end_probe(tried);
        self.put(it.span.end - 1, close);
    }

    pub(crate) fn static_block(&mut self, it: &StaticBlock<'_>) {
        let begin = it.span.start
            + u32::try_from(self.slice(it.span).find('{').unwrap_or_default()).unwrap_or_default();
        self.open(Begun {
            name: "<static>".to_owned(),
            flags: 0,
            span: it.span,
            given: vec!["this".to_owned()],
            suspends: false,
            derived: false,
            arrow: false,
        });
        let call = self.begin_probe(&["this".to_owned()]);
        let tried = !clashes(&it.body);
        self.put(begin + 1, format!("const $hpd={call};{}", if tried { "try{" } else { "" }));
        self.fresh = None;
        self.list(&it.body);
        let close = self.end_probe(tried);
        self.put(it.span.end - 1, close);
        self.close();
    }

    pub(crate) fn class(&mut self, it: &Class<'_>) {
        let hint = self.hint.take();
        self.test = None;
        self.visit_decorators(&it.decorators);
        if let Some(heritage) = &it.heritage {
            self.visit_expression(&heritage.expression);
        }
        let name = it.id.as_ref().map(|id| id.name.as_str().to_owned()).or(hint);
        self.path.push(name.unwrap_or_else(|| "<class>".to_owned()));
        let derived = it.heritage.is_some();
        for element in &it.body.body {
            match element {
                oxc_ast::ast::ClassElement::MethodDefinition(method)
                    if method.kind == MethodDefinitionKind::Constructor =>
                {
                    self.visit_decorators(&method.decorators);
                    if let Some(body) = &method.value.body {
                        let name = Some("constructor".to_owned());
                        self.plain_function(
                            &method.value,
                            body,
                            name,
                            flags::METHOD | flags::CONSTRUCTOR,
                            derived,
                        );
                    }
                }
                _ => self.visit_class_element(element),
            }
        }
        self.path.pop();
    }

    pub(crate) fn method(&mut self, it: &MethodDefinition<'_>) {
        self.visit_decorators(&it.decorators);
        self.visit_property_key(&it.key);
        let name = self.key_name(&it.key);
        let before = match it.kind {
            MethodDefinitionKind::Get => "get ",
            MethodDefinitionKind::Set => "set ",
            MethodDefinitionKind::Method | MethodDefinitionKind::Constructor => "",
        };
        self.member(&it.value, name, before);
    }

    pub(crate) fn property(&mut self, it: &ObjectProperty<'_>) {
        if it.shorthand {
            return walk::walk_object_property(self, it);
        }
        if it.computed {
            self.visit_property_key(&it.key);
        }
        let name = self.key_name(&it.key);
        let before = match it.kind {
            PropertyKind::Get => "get ",
            PropertyKind::Set => "set ",
            PropertyKind::Init => "",
        };
        match &it.value {
            oxc_ast::ast::Expression::FunctionExpression(function)
                if it.method || !before.is_empty() =>
            {
                self.member(function, name, before);
            }
            value => {
                self.hint_for(value, name);
                self.visit_expression(value);
            }
        }
    }

    fn member(&mut self, it: &Function<'_>, name: Option<String>, before: &str) {
        let Some(body) = &it.body else { return };
        let kind = if it.generator { flags::GENERATOR } else { 0 }
            | if it.r#async { flags::ASYNC } else { 0 };
        let name = name.map(|name| format!("{before}{name}"));
        self.plain_function(it, body, name, kind | flags::METHOD, false);
    }

    fn open(&mut self, mut begun: Begun) {
        let id = self.functions.len();
        if self.goal == Goal::Script && id == 0 && self.frames.len() == 1 {
            // A script whose first function stands free is a module that a test runner has wrapped.
            begun.name = "<module>".to_owned();
            begun.flags |= flags::MODULE;
            begun.given.clear();
        }
        // A test has its whole title already.
        let is_test = begun.name.starts_with("test \"");
        let qualified = if is_test { begun.name.clone() } else { self.qualified(&begun.name) };
        let slots: Vec<String> = begun.given.into_iter().take(PARAMETERS_MAX).collect();
        self.functions.push(ProbedFunction {
            name: begun.name.clone(),
            qualified,
            first: self.lines.of(begun.span.start),
            last: self.lines.of(begun.span.end.saturating_sub(1)),
            flags: begun.flags,
            parameters: slots.len(),
            slots: Vec::new(),
            test: None,
        });
        if begun.flags & flags::MODULE == 0 {
            self.path.push(begun.name);
        }
        self.frames.push(Some(Frame {
            id,
            suspends: begun.suspends,
            constructor: begun.flags & flags::CONSTRUCTOR != 0,
            derived: begun.derived,
            arrow: begun.arrow,
            slots,
            held: 0,
            deferred: false,
        }));
    }

    fn close(&mut self) {
        let Some(Some(frame)) = self.frames.pop() else { return };
        let Some(row) = self.functions.get_mut(frame.id) else { return };
        row.slots = frame.slots;
        if row.flags & flags::MODULE == 0 {
            self.path.pop();
        }
        // Where the function stands, nothing is known of the line any more.
        self.fresh = None;
    }

    fn say_test(&mut self, test: Option<String>) {
        if let (Some(test), Some(row)) = (test, self.functions.last_mut()) {
            row.test = Some(test);
        }
    }

    fn given(&self) -> Vec<String> {
        self.frame().map(|frame| frame.slots.clone()).unwrap_or_default()
    }

    fn begin_probe(&self, given: &[String]) -> String {
        let Some(frame) = self.frame() else { return "0".to_owned() };
        // As wide as any number that takes its place, so that columns stay known.
        let id = format!("{:05}", frame.id);
        let list = given.join(",");
        if frame.suspends {
            return format!("$hp.g($hp${id},[{list}])");
        }
        match given.len() {
            0 => format!("$hp.c0($hp${id})"),
            count @ 1..=4 => format!("$hp.c{count}($hp${id},{list})"),
            _ => format!("$hp.cn($hp${id},[{list}])"),
        }
    }

    fn unwind_probe(&self) -> &'static str {
        if self.suspends() { "$hp.gu($hpd,$hpe)" } else { "$hp.u($hpd,$hpe)" }
    }

    fn end_probe(&self, tried: bool) -> String {
        let Some(frame) = self.frame() else { return String::new() };
        let (leave, last) = if frame.suspends { ("gr", "gx") } else { ("r", "x") };
        let value = if frame.constructor { "this" } else { "void 0" };
        let leave = format!(";$hp.{leave}($hpd,{value})");
        if !tried {
            return leave;
        }
        let unwind = self.unwind_probe();
        // Whoever goes over a generator may end it where it waits, and then nothing but a `finally` runs.
        let closable = frame.suspends
            && self.functions.get(frame.id).is_some_and(|row| row.flags & flags::GENERATOR != 0);
        let last = if frame.deferred || closable {
            format!("finally{{$hp.{last}($hpd)}}")
        } else {
            String::new()
        };
        format!("{leave}}}catch($hpe){{throw {unwind}}}{last}")
    }
}

fn function_name(name: Option<String>, test: Option<&str>) -> String {
    match (name, test) {
        (Some(name), _) => name,
        (None, Some(test)) => format!("test {test:?}"),
        (None, None) => "<anonymous>".to_owned(),
    }
}

fn rest(it: &FormalParameters<'_>) -> u32 {
    if it.rest.is_some() { flags::REST } else { 0 }
}

/// By the text alone: who mentions it in a comment pays for an object that nobody needed.
fn uses_arguments(body: &str) -> bool {
    body.contains("arguments")
        && !["let arguments", "const arguments", "class arguments"]
            .iter()
            .any(|it| body.contains(it))
}

/// Whether the statements would not be allowed inside a block, as they are in a function: a function declared there
/// may have the name of a variable or of another function.
fn clashes(list: &[Statement<'_>]) -> bool {
    let mut names: Vec<String> = Vec::new();
    for statement in list {
        if let Statement::FunctionDeclaration(function) = statement {
            names.extend(function.id.as_ref().map(|id| id.name.as_str().to_owned()));
        }
    }
    if names.is_empty() {
        return false;
    }
    let mut vars = crate::names::Vars::default();
    vars.visit_all(list);
    let mut seen = std::collections::HashSet::new();
    names.iter().any(|name| !seen.insert(name) || vars.names.contains(name))
}

//! Lines, and what else statements need: one probe before each that does something, on a line that is not yet known.

use oxc_ast::ast::{
    BindingPattern, BlockStatement, CatchClause, Declaration, DoWhileStatement,
    ExportDefaultDeclarationKind, Expression, ForInStatement, ForOfStatement, ForStatement,
    ForStatementLeft, IfStatement, ReturnStatement, Statement, TryStatement, VariableDeclaration,
    WhileStatement,
};
use oxc_ast_visit::{Visit as _, walk};
use oxc_span::{GetSpan as _, Span};

use crate::names::bound;
use crate::probes::Probes;

impl Probes<'_> {
    /// The probe of a line, without what separates it from what follows.
    fn line(&self, offset: u32) -> String {
        let line = self.lines.of(offset);
        if self.suspends() { format!("$hp.gl($hpd,{line})") } else { format!("$hp.l({line})") }
    }

    pub(crate) fn list(&mut self, list: &[Statement<'_>]) {
        for statement in list {
            let span = statement.span();
            let line = self.lines.own(span.start);
            if self.frame().is_some() && runs(statement) {
                if self.fresh != Some(line) {
                    let probe = self.line(span.start);
                    self.put(span.start, format!("{probe};"));
                }
                self.fresh = Some(line);
            }
            let before = self.fresh;
            self.visit_statement(statement);
            self.end_statement(span);
            self.fresh = if self.lines.own(span.end) == line { before } else { None };
        }
    }

    /// Says the writes that a declaration by pattern has made.
    fn end_statement(&mut self, span: Span) {
        if !self.after.is_empty() {
            let after = std::mem::take(&mut self.after);
            self.put(span.end, format!("{after};"));
        }
    }

    pub(crate) fn statement(&mut self, it: &Statement<'_>) {
        match it {
            Statement::IfStatement(it) => self.branch(it),
            Statement::ForStatement(it) => self.counting(it),
            Statement::ForOfStatement(it) => self.each_of(it),
            Statement::ForInStatement(it) => self.each_in(it),
            Statement::WhileStatement(it) => self.looping(it),
            Statement::DoWhileStatement(it) => self.looping_once(it),
            Statement::VariableDeclaration(it) if it.declare => {}
            Statement::FunctionDeclaration(it) if it.declare => {}
            Statement::BlockStatement(it) => self.list(&it.body),
            _ => walk::walk_statement(self, it),
        }
    }

    /// What an `if`, `else` or loop holds: in braces of ours where it has none and needs some.
    fn body(&mut self, it: &Statement<'_>, parent: u32, first: &str) {
        let span = it.span();
        match it {
            Statement::BlockStatement(block) => {
                if !first.is_empty() {
                    self.put(span.start + 1, first.to_owned());
                }
                self.list(&block.body);
            }
            Statement::FunctionDeclaration(_) => self.visit_statement(it),
            Statement::EmptyStatement(_) if first.is_empty() => {}
            _ => {
                let known = self.lines.own(span.start) == parent && self.fresh == Some(parent);
                let probe = if known || self.frame().is_none() || !runs(it) {
                    String::new()
                } else {
                    format!("{};", self.line(span.start))
                };
                self.put(span.start, format!("{{{first}{probe}"));
                self.visit_statement(it);
                self.end_statement(span);
                self.put(span.end, "}");
            }
        }
    }

    fn branch(&mut self, it: &IfStatement<'_>) {
        let line = self.lines.own(it.span.start);
        let known = self.fresh;
        self.visit_expression(&it.test);
        self.body(&it.consequent, line, "");
        if let Some(other) = &it.alternate {
            self.fresh = known;
            self.body(other, line, "");
        }
    }

    fn counting(&mut self, it: &ForStatement<'_>) {
        let line = self.lines.own(it.span.start);
        let known = self.fresh;
        if let Some(init) = &it.init {
            self.visit_for_statement_init(init);
            self.after.clear();
        }
        if let Some(test) = &it.test {
            self.visit_expression(test);
        }
        if let Some(update) = &it.update {
            if self.frame().is_some() {
                let probe = self.line(it.span.start);
                self.put(update.span().start, format!("{probe},"));
            }
            self.visit_expression(update);
        }
        self.fresh = if it.update.is_some() { known } else { None };
        self.body(&it.body, line, "");
    }

    fn each_of(&mut self, it: &ForOfStatement<'_>) {
        let line = self.lines.own(it.span.start);
        let first = self.head(&it.left, it.span.start);
        // What cannot be gone over is named in the engine's message.
        drop(self.spared(&it.right));
        if it.r#await && self.suspends() {
            self.around(&it.right, "$hp.i($hpd,", ")");
        } else {
            self.visit_expression(&it.right);
        }
        self.fresh = self.frame().map(|_| line);
        self.body(&it.body, line, &first);
        if it.r#await && self.suspends() {
            // Its last step has left the frame, which is there again, whatever comes next.
            self.after.push_str(";$hp.gf($hpd)");
        }
    }

    fn each_in(&mut self, it: &ForInStatement<'_>) {
        let line = self.lines.own(it.span.start);
        let first = self.head(&it.left, it.span.start);
        self.visit_expression(&it.right);
        self.fresh = self.frame().map(|_| line);
        self.body(&it.body, line, &first);
    }

    /// What is said at the begin of each pass: the head's line, and what it wrote.
    fn head(&mut self, left: &ForStatementLeft<'_>, at: u32) -> String {
        if self.frame().is_none() {
            return String::new();
        }
        let mut names = Vec::new();
        match left {
            ForStatementLeft::VariableDeclaration(it) => {
                for declarator in &it.declarations {
                    bound(&declarator.id, &mut names);
                }
            }
            ForStatementLeft::AssignmentTargetIdentifier(it) => {
                names.push(it.name.as_str().to_owned())
            }
            _ => {}
        }
        let mut first = format!("{};", self.line(at));
        for name in names {
            if let Some(slot) = self.slot(&name) {
                first.push_str(&format!("$hp.w({slot},{name});"));
            }
        }
        first
    }

    fn looping(&mut self, it: &WhileStatement<'_>) {
        let line = self.lines.own(it.span.start);
        self.test(&it.test, it.span.start);
        self.fresh = self.frame().map(|_| line);
        self.body(&it.body, line, "");
    }

    fn looping_once(&mut self, it: &DoWhileStatement<'_>) {
        let line = self.lines.own(it.span.start);
        self.fresh = None;
        self.body(&it.body, line, "");
        self.test(&it.test, it.test.span().start);
    }

    /// A loop's test, which is reached on its line each time.
    fn test(&mut self, test: &Expression<'_>, at: u32) {
        if self.frame().is_some() {
            let probe = self.line(at);
            self.put(test.span().start, format!("{probe},"));
        }
        self.visit_expression(test);
    }

    pub(crate) fn returning(&mut self, it: &ReturnStatement<'_>) {
        let Some(frame) = self.frame_mut() else { return walk::walk_return_statement(self, it) };
        let held = frame.held > 0;
        frame.deferred |= held;
        let probe = match (frame.suspends, held) {
            (false, false) => "$hp.r($hpd,",
            (false, true) => "$hp.q($hpd,",
            (true, false) => "$hp.gr($hpd,",
            (true, true) => "$hp.gq($hpd,",
        };
        let constructs = frame.constructor;
        match &it.argument {
            Some(argument) => self.around(argument, probe, ")"),
            None => {
                let value = if constructs { "this" } else { "void 0" };
                self.put(it.span.start + 6, format!(" void {probe}{value})"));
            }
        }
    }

    pub(crate) fn trying(&mut self, it: &TryStatement<'_>) {
        let held = it.finalizer.is_some();
        self.hold(held, 1);
        self.fresh = None;
        self.visit_block_statement(&it.block);
        if let Some(handler) = &it.handler {
            self.visit_catch_clause(handler);
        }
        self.hold(held, 0);
        if let Some(last) = &it.finalizer {
            self.fresh = None;
            if self.suspends() {
                self.put(last.span.start + 1, "$hp.gf($hpd);");
            }
            self.block(last);
        }
    }

    fn hold(&mut self, held: bool, more: u32) {
        if let (true, Some(frame)) = (held, self.frame_mut()) {
            frame.held = if more == 1 { frame.held + 1 } else { frame.held.saturating_sub(1) };
        }
    }

    fn block(&mut self, it: &BlockStatement<'_>) {
        self.list(&it.body);
    }

    pub(crate) fn catching(&mut self, it: &CatchClause<'_>) {
        if self.frame().is_none() {
            return self.block(&it.body);
        }
        let probe = if self.suspends() { "$hp.gk" } else { "$hp.k" };
        let value = match &it.param {
            None => {
                self.put(it.span.start + 5, "($hpe)");
                "$hpe"
            }
            Some(parameter) => match &parameter.pattern {
                BindingPattern::BindingIdentifier(name) => name.name.as_str(),
                pattern => return self.catching_parts(pattern, it, probe),
            },
        };
        self.put(it.body.span.start + 1, format!("{probe}($hpd,{value});"));
        self.fresh = None;
        self.block(&it.body);
    }

    /// `catch ({ message }) {…}` gives what was thrown no name: `catch ($hpe){let { message }=$hpe;if(1) {…}}`.
    fn catching_parts(&mut self, pattern: &BindingPattern<'_>, it: &CatchClause<'_>, probe: &str) {
        let span = pattern.span();
        self.put(span.start, format!("$hpe){{{probe}($hpd,$hpe);let "));
        self.visit_binding_pattern(pattern);
        let mut names = Vec::new();
        bound(pattern, &mut names);
        self.put(span.end, "=$hpe;if(1");
        for name in names {
            if let Some(slot) = self.slot(&name) {
                self.put(it.body.span.start + 1, format!("$hp.w({slot},{name});"));
            }
        }
        self.fresh = None;
        self.block(&it.body);
        self.put(it.body.span.end, "}");
    }
}

/// Whether reaching the statement is worth a line: declarations of functions and types do nothing, and loops that test
/// first say it themselves.
fn runs(it: &Statement<'_>) -> bool {
    match it {
        Statement::ExpressionStatement(_)
        | Statement::ReturnStatement(_)
        | Statement::ThrowStatement(_)
        | Statement::IfStatement(_)
        | Statement::ForStatement(_)
        | Statement::ForOfStatement(_)
        | Statement::ForInStatement(_)
        | Statement::SwitchStatement(_)
        | Statement::BreakStatement(_)
        | Statement::ContinueStatement(_)
        | Statement::WithStatement(_) => true,
        Statement::VariableDeclaration(it) => declares(it),
        Statement::LabeledStatement(it) => runs(&it.body),
        Statement::ExportDeclaration(it) => match &it.declaration {
            Declaration::VariableDeclaration(it) => declares(it),
            _ => false,
        },
        Statement::ExportDefaultDeclaration(it) => !matches!(
            it.declaration,
            ExportDefaultDeclarationKind::FunctionDeclaration(_)
                | ExportDefaultDeclarationKind::ClassDeclaration(_)
                | ExportDefaultDeclarationKind::TSInterfaceDeclaration(_)
        ),
        _ => false,
    }
}

fn declares(it: &VariableDeclaration<'_>) -> bool {
    !it.declare && it.declarations.iter().any(|declarator| declarator.init.is_some())
}

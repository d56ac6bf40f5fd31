//! The walk over the tree: which node gets which probe. What a kind of node needs is in the modules beside it.

use std::collections::HashSet;

use oxc_ast::ast::{
    ArrowFunctionExpression, AssignmentExpression, AwaitExpression, CallExpression, CatchClause,
    ChainExpression, Class, ClassElement, Expression, FormalParameters, Function, FunctionBody,
    MethodDefinition, NewExpression, ObjectProperty, Program, PropertyDefinition, ReturnStatement,
    SpreadElement, Statement, StaticBlock, SwitchCase, TSEnumDeclaration,
    TSExternalModuleDeclaration, TSGlobalDeclaration, TSInterfaceDeclaration,
    TSNamespaceDeclaration, TSTypeAliasDeclaration, TSTypeAnnotation, TSTypeParameterDeclaration,
    TSTypeParameterInstantiation, TaggedTemplateExpression, ThrowStatement, TryStatement,
    UpdateExpression, VariableDeclarator, WithStatement, YieldExpression,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan as _, Span};
use oxc_syntax::scope::ScopeFlags;

use crate::Goal;
use crate::insert::Insertions;
use crate::lines::Lines;
use crate::table::{Instrumented, ProbedFunction};

/// The function that is being walked.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Its number in the table.
    pub(crate) id: usize,
    /// Whether it can be left and entered again: generators, async functions and modules.
    pub(crate) suspends: bool,
    pub(crate) constructor: bool,
    pub(crate) derived: bool,
    pub(crate) arrow: bool,
    pub(crate) slots: Vec<String>,
    /// How many `try … finally` are around: a `return` there is not yet the end.
    pub(crate) held: u32,
    /// Whether any `return` was such a one.
    pub(crate) deferred: bool,
}

pub(crate) struct Probes<'s> {
    pub(crate) text: &'s str,
    pub(crate) goal: Goal,
    pub(crate) lines: Lines,
    pub(crate) out: Insertions,
    pub(crate) functions: Vec<ProbedFunction>,
    /// `None` where no frame of ours is under way: defaults of parameters, fields of classes.
    pub(crate) frames: Vec<Option<Frame>>,
    /// What the next function or class is called, where its place says so.
    pub(crate) hint: Option<String>,
    /// The titles of the test that the next function is.
    pub(crate) test: Option<String>,
    pub(crate) titles: Vec<String>,
    pub(crate) path: Vec<String>,
    /// Writes of a declaration by pattern, to be said behind it.
    pub(crate) after: String,
    /// The line that the frame is known to be on, where control flows straight.
    pub(crate) fresh: Option<u32>,
    /// Every name that the text declares.
    pub(crate) declared: HashSet<String>,
    /// Calls that are not wrapped, by their place.
    pub(crate) bare: HashSet<(u32, u32)>,
}

impl<'s> Probes<'s> {
    pub(crate) fn new(text: &'s str, goal: Goal) -> Self {
        Self {
            text,
            goal,
            lines: Lines::new(text),
            out: Insertions::default(),
            functions: Vec::new(),
            frames: Vec::new(),
            hint: None,
            test: None,
            titles: Vec::new(),
            path: Vec::new(),
            after: String::new(),
            fresh: None,
            declared: HashSet::new(),
            bare: HashSet::new(),
        }
    }

    pub(crate) fn finish(self) -> Instrumented {
        let source = self.lines.source().map(str::to_owned);
        let (text, places) = self.out.apply(self.text);
        Instrumented { text, functions: self.functions, places, source }
    }

    pub(crate) fn frame(&self) -> Option<&Frame> {
        self.frames.last().and_then(Option::as_ref)
    }

    pub(crate) fn frame_mut(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut().and_then(Option::as_mut)
    }

    pub(crate) fn suspends(&self) -> bool {
        self.frame().is_some_and(|frame| frame.suspends)
    }

    pub(crate) fn put(&mut self, offset: u32, text: impl Into<String>) {
        self.out.put(offset, text.into());
    }

    pub(crate) fn slice(&self, span: Span) -> &'s str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    /// Walks something inside of which no frame of ours is under way.
    fn without_frame(&mut self, walk: impl FnOnce(&mut Self)) {
        self.frames.push(None);
        walk(self);
        self.frames.pop();
    }

    /// `open`, the walk, `close` around an expression; in brackets where it is a list of several.
    pub(crate) fn around<'a>(&mut self, expression: &Expression<'a>, open: &str, close: &str) {
        let span = expression.span();
        let several = matches!(expression, Expression::SequenceExpression(_));
        self.put(span.start, if several { format!("{open}(") } else { open.to_owned() });
        self.visit_expression(expression);
        self.put(span.end, if several { format!("){close}") } else { close.to_owned() });
    }
}

impl<'a> Visit<'a> for Probes<'_> {
    fn visit_program(&mut self, it: &Program<'a>) {
        self.module(it);
    }

    fn visit_statements(&mut self, it: &oxc_allocator::ArenaVec<'a, Statement<'a>>) {
        self.list(it);
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        self.statement(it);
    }

    fn visit_switch_case(&mut self, it: &SwitchCase<'a>) {
        if let Some(test) = &it.test {
            self.visit_expression(test);
        }
        self.fresh = None;
        self.list(&it.consequent);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.function(it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.arrow(it);
    }

    fn visit_formal_parameters(&mut self, it: &FormalParameters<'a>) {
        self.without_frame(|probes| walk::walk_formal_parameters(probes, it));
    }

    fn visit_function_body(&mut self, it: &FunctionBody<'a>) {
        self.list(&it.statements);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        if !it.declare {
            self.class(it);
        }
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        if !matches!(it, ClassElement::TSIndexSignature(_)) {
            walk::walk_class_element(self, it);
        }
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.method(it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.visit_decorators(&it.decorators);
        self.visit_property_key(&it.key);
        let hint = self.key_name(&it.key);
        if let Some(value) = &it.value {
            self.hint_for(value, hint);
            self.without_frame(|probes| probes.visit_expression(value));
        }
    }

    fn visit_accessor_property(&mut self, it: &oxc_ast::ast::AccessorProperty<'a>) {
        self.without_frame(|probes| walk::walk_accessor_property(probes, it));
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.static_block(it);
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        self.property(it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        self.declarator(it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        self.assignment(it);
    }

    fn visit_update_expression(&mut self, it: &UpdateExpression<'a>) {
        self.update(it);
    }

    fn visit_await_expression(&mut self, it: &AwaitExpression<'a>) {
        if !self.suspends() {
            return walk::walk_await_expression(self, it);
        }
        self.put(it.span.start, "$hp.z($hpd,");
        self.around(&it.argument, "$hp.y($hpd,", ")");
        self.put(it.span.end, ")");
    }

    fn visit_yield_expression(&mut self, it: &YieldExpression<'a>) {
        if !self.suspends() {
            return walk::walk_yield_expression(self, it);
        }
        self.put(it.span.start, "$hp.z($hpd,");
        if let Some(argument) = it.argument.as_ref().filter(|_| it.delegate) {
            drop(self.spared(argument));
        }
        match &it.argument {
            Some(argument) => self.around(argument, "$hp.y($hpd,", ")"),
            None => self.put(it.span.end, " $hp.y($hpd,void 0)"),
        }
        self.put(it.span.end, ")");
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        self.call(it);
    }

    fn visit_chain_expression(&mut self, it: &ChainExpression<'a>) {
        self.chain(it);
    }

    fn visit_spread_element(&mut self, it: &SpreadElement<'a>) {
        self.spread(it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.construction(it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        self.tagged(it);
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        self.returning(it);
    }

    fn visit_throw_statement(&mut self, it: &ThrowStatement<'a>) {
        if self.frame().is_none() {
            return walk::walk_throw_statement(self, it);
        }
        // Where it stands: Node shows that place when nobody catches it, and shows ours otherwise.
        let (line, column) = self.lines.place(it.span.start);
        self.around(&it.argument, "$hp.t(", &format!(",{line},{column})"));
    }

    fn visit_try_statement(&mut self, it: &TryStatement<'a>) {
        self.trying(it);
    }

    fn visit_catch_clause(&mut self, it: &CatchClause<'a>) {
        self.catching(it);
    }

    // A name inside of it may be the object's, and so may one of ours; reading it may run the program's code.
    fn visit_with_statement(&mut self, it: &WithStatement<'a>) {
        self.visit_expression(&it.object);
    }

    // Types have no probes, and nothing of them runs.
    fn visit_ts_type_annotation(&mut self, _: &TSTypeAnnotation<'a>) {}
    fn visit_ts_type_parameter_declaration(&mut self, _: &TSTypeParameterDeclaration<'a>) {}
    fn visit_ts_type_parameter_instantiation(&mut self, _: &TSTypeParameterInstantiation<'a>) {}
    fn visit_ts_type_alias_declaration(&mut self, _: &TSTypeAliasDeclaration<'a>) {}
    fn visit_ts_interface_declaration(&mut self, _: &TSInterfaceDeclaration<'a>) {}
    fn visit_ts_enum_declaration(&mut self, _: &TSEnumDeclaration<'a>) {}
    fn visit_ts_global_declaration(&mut self, _: &TSGlobalDeclaration<'a>) {}
    fn visit_ts_external_module_declaration(&mut self, _: &TSExternalModuleDeclaration<'a>) {}
    // Its body becomes a function of its own, which has no frame with us.
    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        if !it.declare {
            self.without_frame(|probes| walk::walk_ts_namespace_declaration(probes, it));
        }
    }
}

//! Our helper inside the program, and what goes without it: breaking off what a stopped thread computes for
//! us, and telling whether text is an expression.
//!
//! An evaluation runs on the stopped thread itself; a request without a frame runs on a thread of the
//! debugger, which is therefore free when the other is stuck.

use std::path::Path;

use holdpoint_dap::{RequestError, request::Evaluate, types as t};

use super::{Talk, is_python, literal};
use crate::{
    backend::dap::translate,
    failure::{Code, Failure},
    limits,
};

/// Raises in whatever thread works on a request of ours: in the main thread as Ctrl-C does, which ends a
/// system call too; in others, and where the program has its own Ctrl-C, an ordinary exception.
/// Again and again, because pydevd tries a `repr` that fails a second time; in the end only the value
/// that hangs is lost. Not before the work has gone on for a moment: an exception in pydevd's own first
/// steps would leave its locks held. Never takes an exception back: CPython 3.11 then spins for ever.
const INTERRUPT: &str = "\
def holdpoint_interrupt():
    import ctypes, signal, sys, threading, time
    work = ('internal_evaluate_expression_json', 'internal_get_variable_json',
            'internal_change_variable_json', 'internal_set_expression_json')
    def busy():
        found = {}
        for ident, frame in sys._current_frames().items():
            while frame is not None and ident != threading.get_ident():
                if frame.f_code.co_name in work:
                    found[ident] = frame
                frame = frame.f_back
        return found
    def goes_on(ident, frame):
        until = time.monotonic() + 0.1
        while busy().get(ident) is frame:
            if time.monotonic() > until:
                return True
            time.sleep(0.005)
    throw = ctypes.pythonapi.PyThreadState_SetAsyncExc
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    for ident, frame in busy().items():
        if not goes_on(ident, frame):
            continue
        until = time.monotonic() + 1.5
        by_signal = is_default and ident == threading.main_thread().ident
        while time.monotonic() < until:
            if by_signal:
                signal.pthread_kill(ident, signal.SIGINT)
            else:
                throw(ctypes.c_ulong(ident), ctypes.py_object(TimeoutError))
            if not goes_on(ident, frame):
                break
holdpoint_interrupt()
";

/// What of us works inside the program, as one module.
const HELPER: &str = concat!(
    include_str!("helper.py"),
    "\n\n",
    include_str!("traces.py"),
    "\n\n",
    include_str!("find.py"),
    "\n\n",
    include_str!("stays.py"),
    "\n\n",
    include_str!("until.py"),
    "\n\n",
    include_str!("watched.py"),
    "\n\n",
    include_str!("resumes.py"),
);

impl Talk<'_> {
    /// Best effort: what cannot be broken off is told by the request that does not end.
    pub(super) async fn interrupt(self) {
        let asked = self.dap.requester.request::<Evaluate>(silent(INTERRUPT));
        match tokio::time::timeout(limits::INTERRUPT, asked).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::debug!(%error, "an evaluation was not broken off"),
            Err(_) => tracing::debug!("an evaluation was not broken off in time"),
        }
    }

    /// pydevd takes any condition, and says at the first hit that it is none.
    pub(super) async fn check_condition(
        self,
        file: Option<&Path>,
        condition: &str,
    ) -> Result<(), Failure> {
        if !is_python(file) {
            return Ok(());
        }
        match self.compile(condition).await {
            Some(Err(RequestError::Refused { message, .. })) if message.contains("Error") => {
                let why = translate::last_line(&message);
                Err(Failure::new(
                    Code::InvalidParams,
                    format!("the condition `{condition}` does not parse: {why}"),
                ))
            }
            _ => Ok(()),
        }
    }

    /// What is wrong with each of these expressions.
    pub(super) async fn problems(
        self,
        file: Option<&Path>,
        expressions: &[&str],
    ) -> Result<Vec<Option<String>>, Failure> {
        if expressions.is_empty() || !is_python(file) {
            return Ok(Vec::new());
        }
        let text = serde_json::json!(expressions).to_string();
        let answer = self.helper(&format!("check({})", literal(&text))).await?;
        Ok(serde_json::from_str(&answer).unwrap_or_default())
    }

    /// Calls a function of our helper in the program, which is put there when it is needed first.
    pub(super) async fn helper(self, call: &str) -> Result<String, Failure> {
        self.is_installed().await?;
        self.silently(&format!("__import__('_holdpoint').{call}")).await
    }

    pub(super) async fn is_installed(self) -> Result<(), Failure> {
        self.own.helper.get_or_try_init(|| self.install()).await.map(drop)
    }

    async fn install(self) -> Result<(), Failure> {
        let source = literal(HELPER);
        let limits = serde_json::json!({
            "value": limits::TRACE_VALUE,
            "batch": limits::TRACE_BATCH,
            "every": limits::TRACE_EVERY.as_secs_f64(),
            "budget": limits::TRACE_EVALUATE.as_secs_f64(),
            "room": limits::TRACE_ROOM,
            "last": limits::TRACE_LAST.as_secs_f64(),
        });
        // A forked child has its parent's already.
        let code = format!(
            "def holdpoint_install(source):\n    \
                 import sys, types\n    \
                 if getattr(sys.modules.get('_holdpoint'), 'source', None) == source:\n        \
                     return\n    \
                 module = types.ModuleType('_holdpoint')\n    \
                 module.LIMITS = {limits}\n    \
                 exec(compile(source, '<holdpoint>', 'exec'), module.__dict__)\n    \
                 module.source = source\n    \
                 sys.modules['_holdpoint'] = module\n\
             holdpoint_install({source})\n"
        );
        self.silently(&code).await.map(drop)
    }

    pub(super) async fn silently(self, code: &str) -> Result<String, Failure> {
        let body = self.dap.ask::<Evaluate>(silent(code)).await?;
        Ok(body.result)
    }

    pub(super) async fn compile(self, text: &str) -> Option<Result<t::EvaluateBody, RequestError>> {
        let question = format!("compile({}, 'it', 'eval')", literal(text));
        let asked = self.dap.requester.request::<Evaluate>(silent(&question));
        tokio::time::timeout(limits::ADAPTER_ANSWER, asked).await.ok()
    }
}

/// Without a frame, and without its output being shown.
fn silent(expression: &str) -> t::EvaluateArguments {
    t::EvaluateArguments {
        expression: expression.to_owned(),
        context: Some(t::EvaluateContext::Watch),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::HELPER;

    /// Its files are one module: what a later one defines takes the place of an earlier one's.
    #[test]
    fn each_name_is_defined_once() {
        let mut seen = BTreeSet::new();
        for line in HELPER.lines() {
            let rest = line.strip_prefix("def ").or_else(|| line.strip_prefix("class "));
            let Some(name) = rest.and_then(|it| it.split(['(', ':']).next()) else { continue };
            assert!(seen.insert(name), "`{name}` is defined twice");
        }
        assert!(seen.len() > 20, "{seen:?}");
    }
}

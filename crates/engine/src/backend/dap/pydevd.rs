//! What only Python's debugger can do: break off what a stopped thread computes for us, and tell
//! whether text is an expression.
//!
//! An evaluation runs on the stopped thread itself; a request without a frame runs on a thread of the
//! debugger, which is therefore free when the other is stuck.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use holdpoint_dap::{Request, RequestError, request::Evaluate, types as t};
use tokio::sync::oneshot;

use super::{Dap, translate};
use crate::{
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
    include_str!("pydevd/helper.py"),
    "\n\n",
    include_str!("pydevd/traces.py"),
    "\n\n",
    include_str!("pydevd/find.py"),
);

/// How long an interrupted request may take to answer before it is interrupted again.
const AGAIN: Duration = Duration::from_millis(200);

/// An answer, and whether it came only because we broke the work off.
pub(super) struct Answer<B> {
    pub(super) result: Result<B, RequestError>,
    pub(super) interrupted: bool,
}

impl Dap {
    /// Asks for something that runs the program's own code, which may never end. `None` when it could not
    /// be broken off either. Whoever stops waiting leaves no thread stuck: the next request would wait
    /// for it.
    pub(super) async fn ask_program<R: Request>(
        &self,
        arguments: R::Arguments,
        patience: Duration,
    ) -> Option<Answer<R::Body>>
    where
        R::Arguments: Send + 'static,
        R::Body: Send + 'static,
    {
        let dap = self.clone();
        let (_waiting, nobody_waits) = oneshot::channel::<()>();
        // Ends with the answer, or soon after its patience or its caller.
        let asking = tokio::spawn(async move {
            let asked = dap.client.request::<R>(arguments);
            tokio::pin!(asked);
            tokio::select! {
                result = &mut asked => return Some(Answer { result, interrupted: false }),
                () = tokio::time::sleep(patience) => {}
                _ = nobody_waits => {}
            }
            let begun = Instant::now();
            // The first may come before the work has begun.
            while begun.elapsed() < limits::INTERRUPT {
                dap.interrupt().await;
                if let Ok(result) = tokio::time::timeout(AGAIN, &mut asked).await {
                    return Some(Answer { result, interrupted: true });
                }
            }
            None
        });
        asking.await.ok().flatten()
    }

    /// Best effort: what cannot be broken off is told by the request that does not end.
    async fn interrupt(&self) {
        if !self.known.is_pydevd {
            return;
        }
        let asked = self.client.request::<Evaluate>(silent(INTERRUPT));
        match tokio::time::timeout(limits::INTERRUPT, asked).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => tracing::debug!(%error, "an evaluation was not broken off"),
            Err(_) => tracing::debug!("an evaluation was not broken off in time"),
        }
    }

    /// `None` and a statement look the same in pydevd's answer; this tells them apart.
    pub(super) async fn is_expression(&self, text: &str) -> bool {
        self.known.is_pydevd && matches!(self.compile(text).await, Some(Ok(_)))
    }

    /// pydevd takes any condition, and says at the first hit that it is none.
    pub async fn check_condition(
        &self,
        file: Option<&Path>,
        condition: &str,
    ) -> Result<(), Failure> {
        if !self.known.is_pydevd || !is_python(file) {
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

    /// Calls a function of our helper in the program, which is put there when it is needed first.
    pub(super) async fn helper(&self, call: &str) -> Result<String, Failure> {
        self.known.helper.get_or_try_init(|| self.install()).await?;
        self.silently(&format!("__import__('_holdpoint').{call}")).await
    }

    async fn install(&self) -> Result<(), Failure> {
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

    pub(super) async fn silently(&self, code: &str) -> Result<String, Failure> {
        let body = self.ask::<Evaluate>(silent(code)).await?;
        Ok(body.result)
    }

    async fn compile(&self, text: &str) -> Option<Result<t::EvaluateBody, RequestError>> {
        let question = format!("compile({}, 'it', 'eval')", literal(text));
        let asked = self.client.request::<Evaluate>(silent(&question));
        tokio::time::timeout(limits::ADAPTER_ANSWER, asked).await.ok()
    }
}

/// Whether it may be Python's.
pub(super) fn is_python(file: Option<&Path>) -> bool {
    let is_source = |it: &std::ffi::OsStr| it == "py" || it == "pyw";
    file.is_none_or(|file| file.extension().is_some_and(is_source))
}

/// As JSON writes a string, so does Python.
pub(super) fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Without a frame, and without its output being shown.
fn silent(expression: &str) -> t::EvaluateArguments {
    t::EvaluateArguments {
        expression: expression.to_owned(),
        context: Some(t::EvaluateContext::Watch),
        ..Default::default()
    }
}

//! Times as the wire has them: seconds since 1970, with microseconds.

use jiff::Timestamp;

pub(super) fn now() -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "microseconds of this century fit")]
    let micros = Timestamp::now().as_microsecond() as f64;
    micros / 1e6
}

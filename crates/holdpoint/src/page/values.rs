//! Values: what live objects were at each call that had them, any value by its CID, and what differs between two.

mod compare;
mod look;
mod moments;
mod objects;

use holdpoint_engine::failure::{Code, Failure};
use maud::Markup;

use super::{
    address::PageAddress,
    sheet::{PageView, Sheet},
};
use crate::app::App;

pub(super) struct ValuesView;

/// What an address of this view names.
#[derive(Debug, PartialEq)]
enum ValuesPlace<'a> {
    All,
    Object { process: &'a str, client_ref: &'a str },
    Value(&'a str),
}

fn place(at: &PageAddress) -> Option<ValuesPlace<'_>> {
    Some(match (at.first.as_str(), at.word(0), at.word(1), at.word(2)) {
        ("values" | "objects", None, ..) => ValuesPlace::All,
        ("values", Some("object"), Some(process), Some(client_ref)) => {
            ValuesPlace::Object { process, client_ref }
        }
        ("values", Some("cid"), Some(cid), None) => ValuesPlace::Value(cid),
        // As the call protocol names them: a CID, or `ref:<process>:<number>`.
        ("object", Some(name), None, _) => match name.strip_prefix("ref:") {
            Some(object) => {
                let (process, client_ref) = object.rsplit_once(':').unwrap_or(("", object));
                ValuesPlace::Object { process, client_ref }
            }
            None => ValuesPlace::Value(name),
        },
        _ => return None,
    })
}

impl PageView for ValuesView {
    const NAME: &'static str = "values";
    const ALSO: &'static [&'static str] = &["objects", "object"];
    const TITLE: &'static str = "Values";
    const ICON: &'static str = "values";
    const KEY: char = 'v';

    async fn show(app: App, at: PageAddress) -> Result<Sheet, Failure> {
        let nowhere = || Failure::new(Code::NotFound, "no page of values is here");
        let calls = app.engine.callpoints().await;
        match place(&at).ok_or_else(nowhere)? {
            ValuesPlace::All => objects::sheet(&app, calls, &at, None).await,
            ValuesPlace::Object { process, client_ref } => {
                objects::sheet(&app, calls, &at, Some((process, client_ref))).await
            }
            ValuesPlace::Value(cid) => look::sheet(&app, calls, &at, cid).await,
        }
    }

    /// What is inside of a value, or one secret of it.
    async fn piece(app: App, at: PageAddress) -> Option<Result<Markup, Failure>> {
        let ("values", "cid", cid, "inside") =
            (at.first.as_str(), at.word(0)?, at.word(1)?, at.word(2)?)
        else {
            return None;
        };
        let calls = app.engine.callpoints().await;
        Some(look::inside(&app, calls, cid, &at).await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_objects_have_addresses_also_those_of_the_call_protocol() {
        let of = |path: &str| format!("{:?}", place(&PageAddress::read(path).unwrap()));
        let object = "Some(Object { process: \"1.5+7\", client_ref: \"3\" })";
        assert_eq!(of("/values/object/1.5+7/3"), object);
        assert_eq!(of("/object/ref:1.5+7:3"), object);
        assert_eq!(of("/object/ref:3"), "Some(Object { process: \"\", client_ref: \"3\" })");
        assert_eq!(of("/object/ab12"), "Some(Value(\"ab12\"))");
        assert_eq!(of("/values/cid/ab12"), "Some(Value(\"ab12\"))");
        assert_eq!((of("/objects"), of("/values/x")), ("Some(All)".into(), "None".into()));
    }
}

//! From requests to views and back: one way to show, one way to act.

use std::collections::BTreeMap;

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    middleware,
    response::{Html, IntoResponse as _, Response},
    routing::get,
};
use holdpoint_engine::{
    failure::{Code, Failure},
    limits,
};
use serde_json::{Value, json};

use super::{
    VIEWS,
    address::{FormFields, PageAddress},
    assets, entrance, layout, live, pieces,
    sheet::{Sheet, Then},
};
use crate::app::App;

/// Nothing of another place, nothing inline, nobody around it.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// On everything of the page. The origin is sent to ourselves alone: the gate looks at it.
const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

pub(crate) fn router(app: App) -> Router {
    let mut views = Router::new().route("/page/live", get(live::stream));
    for name in VIEWS.iter().flat_map(|it| [it.name].into_iter().chain(it.also.iter().copied())) {
        views = views
            .route(&format!("/{name}"), get(show).post(act))
            .route(&format!("/{name}/{{*rest}}"), get(show).post(act));
    }
    let signed_in = middleware::from_fn_with_state(app.clone(), entrance::signed_in);
    views
        .layer(signed_in)
        .route("/page/{name}", get(assets::serve))
        .layer(middleware::map_response(guarded))
        .layer(axum::extract::DefaultBodyLimit::max(limits::PAGE_FORM))
        .with_state(app)
}

/// `/` for a browser.
pub(crate) async fn index(app: App, headers: HeaderMap) -> Response {
    let answer = match entrance::is_signed_in(&app, &headers) {
        true => show(State(app), Uri::from_static("/now")).await,
        false => entrance::locked("/"),
    };
    guarded(answer).await
}

async fn guarded(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    // What a program holds is nobody's to keep; assets say otherwise of themselves.
    let no_store = HeaderValue::from_static("no-store");
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(no_store);
    response
}

async fn show(State(app): State<App>, uri: Uri) -> Response {
    let Some(at) = PageAddress::read(&uri.to_string()) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let piece = match at.view() {
        Some(view) => (view.piece)(app.clone(), at.clone()).await,
        None => None,
    };
    match piece {
        Some(Ok(markup)) => Html(markup.into_string()).into_response(),
        Some(Err(failure)) => {
            (status(&failure), Html(pieces::failure(&failure).into_string())).into_response()
        }
        None => page(app, at, None).await,
    }
}

/// A view as a whole page; `wrong` is what came of an action, where no script shows it.
async fn page(app: App, at: PageAddress, wrong: Option<Failure>) -> Response {
    let sheet = sheet(&app, &at).await;
    let status = match (&wrong, sheet.shape) {
        (Some(failure), _) => status(failure),
        (None, "failed") => StatusCode::NOT_FOUND,
        (None, _) => StatusCode::OK,
    };
    let page = layout::page(&app, &at, sheet, wrong.as_ref());
    (status, Html(page.into_string())).into_response()
}

/// What a view shows, or why it does not.
pub(super) async fn sheet(app: &App, at: &PageAddress) -> Sheet {
    let shown = match at.view() {
        Some(view) => (view.show)(app.clone(), at.clone()).await,
        None => Err(Failure::new(Code::NotFound, "no view is here")),
    };
    shown.unwrap_or_else(|failure| Sheet::failed(&failure))
}

async fn act(
    State(app): State<App>,
    uri: Uri,
    headers: HeaderMap,
    axum::Form(form): axum::Form<BTreeMap<String, String>>,
) -> Response {
    let found = PageAddress::read(&uri.to_string()).and_then(|at| Some((at.view()?, at)));
    let Some((view, at)) = found else { return StatusCode::NOT_FOUND.into_response() };
    // In a task of its own: what was pressed is done also where the browser goes on to another page.
    let doing = tokio::spawn((view.act)(app.clone(), at.clone(), FormFields::of(form)));
    let went =
        doing.await.unwrap_or_else(|_| Err(Failure::internal("an action of the page panicked")));
    if entrance::wants_page(&headers) {
        return match went {
            Ok(Then::To(elsewhere)) => to(&elsewhere),
            Ok(Then::Here | Then::Said(_)) => to(&at.whole),
            Err(failure) => page(app, at, Some(failure)).await,
        };
    }
    match went {
        Ok(went) => Json(told(&went)).into_response(),
        Err(failure) => (status(&failure), Json(refused(&failure))).into_response(),
    }
}

fn to(address: &str) -> Response {
    (StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response()
}

fn told(went: &Then) -> Value {
    match went {
        Then::Here => json!({}),
        Then::Said(text) => json!({ "said": text }),
        Then::To(address) => json!({ "to": address }),
    }
}

fn refused(failure: &Failure) -> Value {
    let Failure { code, message, hint, .. } = failure;
    json!({ "error": { "code": code.as_str(), "message": message, "hint": hint } })
}

fn status(failure: &Failure) -> StatusCode {
    match failure.code {
        Code::InvalidParams => StatusCode::BAD_REQUEST,
        Code::NotFound | Code::NoSession => StatusCode::NOT_FOUND,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::CONFLICT,
    }
}

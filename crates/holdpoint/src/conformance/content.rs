//! Every kind of content a tool can answer with, and a failure.

use holdpoint_engine::failure::Failure;
use rmcp::model::{CallToolResponse, ContentBlock, ResourceContents};

use super::fixture::{Client, Fixture, Nothing, content, text};

/// One red pixel.
pub(super) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FD\
    AAAAAElFTkSuQmCC";

/// A millisecond of silence.
const WAV: &str = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";

pub(super) struct SimpleText;

impl Fixture for SimpleText {
    const NAME: &'static str = "test_simple_text";
    const ABOUT: &'static str = "Answers with one text.";
    type Params = Nothing;

    async fn answer(_: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        Ok(text("This is a simple text response for testing."))
    }
}

pub(super) struct Image;

impl Fixture for Image {
    const NAME: &'static str = "test_image_content";
    const ABOUT: &'static str = "Answers with an image.";
    type Params = Nothing;

    async fn answer(_: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        Ok(content(vec![ContentBlock::image(PNG, "image/png")]))
    }
}

pub(super) struct Audio;

impl Fixture for Audio {
    const NAME: &'static str = "test_audio_content";
    const ABOUT: &'static str = "Answers with a sound.";
    type Params = Nothing;

    async fn answer(_: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        Ok(content(vec![ContentBlock::audio(WAV, "audio/wav")]))
    }
}

pub(super) struct Embedded;

impl Fixture for Embedded {
    const NAME: &'static str = "test_embedded_resource";
    const ABOUT: &'static str = "Answers with a resource inside.";
    type Params = Nothing;

    async fn answer(_: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        let resource = ResourceContents::text(
            "This is an embedded resource content.",
            "test://embedded-resource",
        );
        Ok(content(vec![ContentBlock::resource(resource.with_mime_type("text/plain"))]))
    }
}

pub(super) struct Mixed;

impl Fixture for Mixed {
    const NAME: &'static str = "test_multiple_content_types";
    const ABOUT: &'static str = "Answers with a text, an image and a resource.";
    type Params = Nothing;

    async fn answer(_: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        let resource = ResourceContents::text(
            r#"{"test":"data","value":123}"#,
            "test://mixed-content-resource",
        );
        Ok(content(vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PNG, "image/png"),
            ContentBlock::resource(resource.with_mime_type("application/json")),
        ]))
    }
}

pub(super) struct Fails;

impl Fixture for Fails {
    const NAME: &'static str = "test_error_handling";
    const ABOUT: &'static str = "Fails, as any of our tools would.";
    type Params = Nothing;

    async fn answer(_: Client, _: Nothing) -> Result<CallToolResponse, Failure> {
        Err(Failure::internal("this tool intentionally returns an error for testing"))
    }
}

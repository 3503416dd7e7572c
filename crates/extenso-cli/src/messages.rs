//! What the messages of a source and of a target are: options that commands share.

use crate::Failure;
use clap::Args;
use extenso::formats::proto::{Content, MessageType, Schema};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct Messages {
    /// What is known of messages: a `.proto` file, or a `FileDescriptorSet` that `protoc` wrote.
    #[arg(long, value_name = "FILE")]
    descriptor: Option<PathBuf>,
    /// The message that each record is; `tf.train.Example` and `tf.train.SequenceExample` want no descriptor.
    #[arg(long, value_name = "NAME")]
    message: Option<String>,
}

impl Messages {
    /// The file that says what is known of messages.
    pub fn descriptor(&self) -> Option<&Path> {
        self.descriptor.as_deref()
    }

    /// What the records are, if they are messages. A descriptor may be of what is `written` alone.
    ///
    /// Errors: a descriptor of nothing; what there is no descriptor of.
    pub fn content(&self, written: bool) -> Result<Option<Content>, Failure> {
        if self.descriptor.is_some() && self.message.is_none() && !written {
            let error = extenso::Error::value("a descriptor is given, and no message").at("--descriptor");
            return Err(error.hint("Say by `--message` what each record is").into());
        }
        self.message.as_deref().map(|name| self.named(name)).transpose()
    }

    /// The message of this name; examples want no descriptor.
    fn named(&self, name: &str) -> Result<Content, Failure> {
        match Content::of_examples(name) {
            Some(examples) if self.descriptor.is_none() => Ok(examples),
            Some(_) | None => Ok(Content::Message(self.described(name)?)),
        }
    }

    fn described(&self, name: &str) -> Result<MessageType, Failure> {
        let Some(path) = &self.descriptor else {
            let error = extenso::Error::missing(format!("nothing says what '{name}' is")).wanted("a descriptor");
            return Err(error.hint("Give its file by `--descriptor`").into());
        };
        Ok(Schema::from_file(path)?.message(name)?)
    }

    /// The message that results are: of this name, or what the records are.
    pub fn of_results(&self, name: Option<&str>) -> Result<Option<Content>, Failure> {
        name.map_or_else(|| self.content(true), |name| self.named(name).map(Some))
    }
}

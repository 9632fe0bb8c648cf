//! The nine tools: their names, their words, and what they answer.

use fileshed_core::Error;
use fileshed_core::files::{
    EditFile, GlobSearch, GrepSearch, ListFiles, OutputFile, Read, ReadFile, RemoveFile, StatFile,
    WriteFile,
};

use super::tool::{Tool, ToolReply, Workspace};
use crate::ops::{Effect, link_create};

impl Tool for ReadFile {
    const ID: &'static str = "read_file";
    const ADDRESS: &'static str = "fs/read_file";
    const DOC: &'static str = "Read a text file as numbered lines, or an image.";

    fn run(&self, workspace: &Workspace<'_>) -> Result<ToolReply, Error> {
        match workspace.files.read_file(self)? {
            Read::Image { mime_type, bytes } => Ok(ToolReply::Image { mime_type, bytes }),
            read => ToolReply::of(&read),
        }
    }
}

impl Tool for WriteFile {
    const ID: &'static str = "write_file";
    const ADDRESS: &'static str = "fs/write_file";
    const DOC: &'static str = "Write a whole file, new or not.";
    const CHANGES: bool = true;
    const EFFECT: Effect = Effect::REPLACES;

    fn run(&self, workspace: &Workspace<'_>) -> Result<ToolReply, Error> {
        ToolReply::of(&workspace.files.write_file(self)?)
    }
}

impl Tool for EditFile {
    const ID: &'static str = "edit_file";
    const ADDRESS: &'static str = "fs/edit_file";
    const DOC: &'static str = "Replace a text in a file.";
    const CHANGES: bool = true;
    const EFFECT: Effect = Effect::CHANGES;

    fn run(&self, workspace: &Workspace<'_>) -> Result<ToolReply, Error> {
        ToolReply::of(&workspace.files.edit_file(self)?)
    }
}

impl Tool for GlobSearch {
    const ID: &'static str = "glob_search";
    const ADDRESS: &'static str = "fs/glob_search";
    const DOC: &'static str = "Find files by their names.";

    fn run(&self, workspace: &Workspace<'_>) -> Result<ToolReply, Error> {
        ToolReply::of(&workspace.files.glob_search(self)?)
    }
}

impl Tool for GrepSearch {
    const ID: &'static str = "grep_search";
    const ADDRESS: &'static str = "fs/grep_search";
    const DOC: &'static str = "Find lines in files.";

    fn run(&self, workspace: &Workspace<'_>) -> Result<ToolReply, Error> {
        ToolReply::of(&workspace.files.grep_search(self)?)
    }
}

impl Tool for ListFiles {
    const ID: &'static str = "list_files";
    const ADDRESS: &'static str = "fs/list_files";
    const DOC: &'static str = "List a directory.";

    fn run(&self, workspace: &Workspace<'_>) -> Result<ToolReply, Error> {
        ToolReply::of(&workspace.files.list_files(self)?)
    }
}

impl Tool for RemoveFile {
    const ID: &'static str = "remove_file";
    const ADDRESS: &'static str = "fs/remove_file";
    const DOC: &'static str = "Remove a file or a directory.";
    const CHANGES: bool = true;
    const EFFECT: Effect = Effect::REPLACES;

    fn run(&self, workspace: &Workspace<'_>) -> Result<ToolReply, Error> {
        ToolReply::of(&workspace.files.remove_file(self)?)
    }
}

impl Tool for StatFile {
    const ID: &'static str = "stat_file";
    const ADDRESS: &'static str = "fs/stat_file";
    const DOC: &'static str = "Type, size and times of a file.";

    fn run(&self, workspace: &Workspace<'_>) -> Result<ToolReply, Error> {
        ToolReply::of(&workspace.files.stat_file(self)?)
    }
}

impl Tool for OutputFile {
    const ID: &'static str = "output_file";
    const ADDRESS: &'static str = "fs/output_file";
    const DOC: &'static str = "Send a file to the user.";
    const EFFECT: Effect = Effect::ADDS.each_time().outside();

    fn run(&self, workspace: &Workspace<'_>) -> Result<ToolReply, Error> {
        let sent = workspace.files.output_file(self, |file| {
            let path = workspace.in_storage(file)?;
            let handed = link_create::hand_over(workspace.store, workspace.caller, &path)?;
            let description = self.description.as_deref().unwrap_or_default();
            let about = match description {
                "" => String::new(),
                description => format!(" — {description}"),
            };
            let mut message = format!("[File sent to user: \"{}\"{about}]", self.path);
            if !handed.shows {
                message = format!("{message} Show this link as it is: {}", handed.link);
            }
            Ok((Some(handed.url), Some(message)))
        });
        ToolReply::of(&sent)
    }
}

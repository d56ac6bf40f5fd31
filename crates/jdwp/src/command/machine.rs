//! The virtual machine as a whole.

use crate::{
    JdwpError, Requester,
    types::{ClassInfo, IdSizes, ObjectId, VersionInfo},
};

impl Requester {
    pub async fn version(&self) -> Result<VersionInfo, JdwpError> {
        self.send((1, 1), self.fields(), |it| {
            Ok(VersionInfo {
                description: it.text()?,
                major: it.u32()?,
                minor: it.u32()?,
                version: it.text()?,
                name: it.text()?,
            })
        })
        .await
    }

    pub(crate) async fn id_sizes(&self) -> Result<IdSizes, JdwpError> {
        self.send((1, 7), self.fields(), |it| {
            let mut one = || it.u32().map(|size| usize::try_from(size).unwrap_or(8).min(8));
            let (field, method, object, reference_type, frame) =
                (one()?, one()?, one()?, one()?, one()?);
            Ok(IdSizes { field, method, object, reference_type, frame })
        })
        .await
    }

    /// The loaded classes of this signature: one for each class loader that has it.
    pub async fn classes_by_signature(&self, signature: &str) -> Result<Vec<ClassInfo>, JdwpError> {
        self.send((1, 2), self.fields().text(signature), |it| {
            it.list(|it| {
                let (tag, id, status) = (it.u8()?, it.class()?, it.u32()?);
                Ok(ClassInfo { tag, id, signature: signature.to_owned(), status })
            })
        })
        .await
    }

    pub async fn all_classes(&self) -> Result<Vec<ClassInfo>, JdwpError> {
        self.send((1, 3), self.fields(), |it| {
            it.list(|it| {
                let (tag, id, signature) = (it.u8()?, it.class()?, it.text()?);
                Ok(ClassInfo { tag, id, signature, status: it.u32()? })
            })
        })
        .await
    }

    pub async fn all_threads(&self) -> Result<Vec<ObjectId>, JdwpError> {
        self.send((1, 4), self.fields(), |it| it.list(|it| it.object())).await
    }

    /// Forgets everything that was asked for, lets every thread go, and ends the connection; the program lives on.
    pub async fn dispose(&self) -> Result<(), JdwpError> {
        self.send((1, 6), self.fields(), |_| Ok(())).await
    }

    pub async fn suspend(&self) -> Result<(), JdwpError> {
        self.send((1, 8), self.fields(), |_| Ok(())).await
    }

    /// Takes back one suspension of each thread.
    pub async fn resume(&self) -> Result<(), JdwpError> {
        self.send((1, 9), self.fields(), |_| Ok(())).await
    }

    /// Ends the program.
    pub async fn exit(&self, code: u32) -> Result<(), JdwpError> {
        self.send((1, 10), self.fields().u32(code), |_| Ok(())).await
    }

    pub async fn create_string(&self, text: &str) -> Result<ObjectId, JdwpError> {
        self.send((1, 11), self.fields().text(text), |it| it.object()).await
    }
}

//! Domains and what is loaded into them.

use super::of;
use crate::{
    AssemblyRef, DomainRef, MethodRef, MonoError, MonoRequester, ObjectRef, TypeRef,
    value::WireValue, wire::WireWriter,
};

impl MonoRequester {
    pub async fn root_domain(&self) -> Result<DomainRef, MonoError> {
        self.read((20, 1), WireWriter::default(), |it| it.int().map(DomainRef)).await
    }

    pub async fn assemblies(&self, domain: DomainRef) -> Result<Vec<AssemblyRef>, MonoError> {
        self.read((20, 3), of(domain.0), |it| it.all(|it| it.int().map(AssemblyRef))).await
    }

    /// The program's own.
    pub async fn entry_assembly(&self, domain: DomainRef) -> Result<AssemblyRef, MonoError> {
        self.read((20, 4), of(domain.0), |it| it.int().map(AssemblyRef)).await
    }

    pub async fn create_text(&self, domain: DomainRef, text: &str) -> Result<ObjectRef, MonoError> {
        self.read((20, 5), of(domain.0).text(text), |it| it.int().map(ObjectRef)).await
    }

    /// The runtime's own library.
    pub async fn core_library(&self, domain: DomainRef) -> Result<AssemblyRef, MonoError> {
        self.read((20, 6), of(domain.0), |it| it.int().map(AssemblyRef)).await
    }

    pub async fn create_box(
        &self,
        domain: DomainRef,
        kind: TypeRef,
        value: &WireValue,
    ) -> Result<ObjectRef, MonoError> {
        let body = value.write(of(domain.0).int(kind.0));
        self.read((20, 7), body, |it| it.int().map(ObjectRef)).await
    }

    /// Its file.
    pub async fn location(&self, assembly: AssemblyRef) -> Result<String, MonoError> {
        self.read((21, 1), of(assembly.0), |it| it.text()).await
    }

    /// None for a library.
    pub async fn entry_point(&self, assembly: AssemblyRef) -> Result<MethodRef, MonoError> {
        self.read((21, 2), of(assembly.0), |it| it.int().map(MethodRef)).await
    }

    /// By its whole name; none where it has no such type.
    pub async fn type_in(
        &self,
        assembly: AssemblyRef,
        name: &str,
    ) -> Result<Option<TypeRef>, MonoError> {
        let body = of(assembly.0).text(name).flag(false);
        let found = self.read((21, 5), body, |it| it.int().map(TypeRef)).await?;
        Ok(Some(found).filter(|it| !it.is_none()))
    }

    /// `Shop, Version=0.0.0.0, …`.
    pub async fn assembly_name(&self, assembly: AssemblyRef) -> Result<String, MonoError> {
        self.read((21, 6), of(assembly.0), |it| it.text()).await
    }

    /// The method in that row of the assembly's table, from 1 on; none behind the last one.
    pub async fn method_in(
        &self,
        assembly: AssemblyRef,
        row: u32,
    ) -> Result<Option<MethodRef>, MonoError> {
        let token = (0x0600_0000 | (row & 0x00ff_ffff)).cast_signed();
        match self.read((21, 12), of(assembly.0).int(token), |it| it.int().map(MethodRef)).await {
            Ok(method) => Ok(Some(method)),
            Err(MonoError::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub async fn has_debug_info(&self, assembly: AssemblyRef) -> Result<bool, MonoError> {
        self.read((21, 13), of(assembly.0), |it| Ok(it.byte()? != 0)).await
    }
}

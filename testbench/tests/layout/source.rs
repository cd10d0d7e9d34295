//! From the text of a crate to its modules: what each defines, which names it binds, and the paths
//! in its code.
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta, UseTree, Visibility};

/// Index of a module in [`Crate::modules`].
pub type ModuleId = usize;

/// A crate; module 0 is the root of its library, or of its binary.
#[derive(Default)]
pub struct Crate {
    pub modules: Vec<Module>,
    /// All files that a `mod` leads to, tests included.
    pub files: BTreeSet<String>,
}

/// A module, without its tests.
#[derive(Default)]
pub struct Module {
    /// The file that holds it.
    pub file: String,
    pub root: ModuleId,
    pub parent: Option<ModuleId>,
    pub children: BTreeMap<String, ModuleId>,
    /// Names of items.
    pub defined: BTreeSet<String>,
    /// What a `use` binds: local name to path.
    pub bound: BTreeMap<String, Vec<String>>,
    /// Modules and enums of which a `use` binds everything.
    pub globs: Vec<Vec<String>>,
    /// Paths that its code uses, those of private `use` items included.
    pub paths: BTreeSet<Vec<String>>,
}

/// Parse the crate's files, by path from `src/` on.
///
/// # Panics
/// If a file is missing or does not parse.
pub fn load(sources: &BTreeMap<String, String>) -> Crate {
    let mut loaded = Crate::default();
    for root in ["lib.rs", "main.rs"] {
        if sources.contains_key(root) {
            let id = loaded.modules.len();
            loaded.modules.push(Module {
                file: root.to_owned(),
                root: id,
                ..Module::default()
            });
            loaded.read_file(sources, id, root, false);
        }
    }
    loaded
}

impl Crate {
    fn read_file(
        &mut self,
        sources: &BTreeMap<String, String>,
        id: ModuleId,
        file: &str,
        is_test: bool,
    ) {
        let text = sources.get(file);
        let text = text.unwrap_or_else(|| panic!("{file} is declared and missing"));
        let parsed = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        self.files.insert(file.to_owned());
        let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
        let stem = name.trim_end_matches(".rs");
        let folder = match stem {
            "lib" | "main" | "mod" => folder.to_owned(),
            _ => join(folder, stem),
        };
        self.read_items(sources, id, &folder, &parsed.items, is_test);
    }

    fn read_items(
        &mut self,
        sources: &BTreeMap<String, String>,
        id: ModuleId,
        folder: &str,
        items: &[Item],
        is_test: bool,
    ) {
        for item in items {
            let Item::Mod(module) = item else {
                if !is_test {
                    Collector(&mut self.modules[id]).visit_item(item);
                }
                continue;
            };
            let is_test = is_test || for_tests(&module.attrs);
            let name = module.ident.to_string();
            let inner_folder = join(folder, &name);
            let file = match module.content {
                Some(_) => self.modules[id].file.clone(),
                None => {
                    let adjacent = format!("{inner_folder}.rs");
                    let inside = format!("{inner_folder}/mod.rs");
                    match sources.contains_key(&adjacent) {
                        true => adjacent,
                        false => inside,
                    }
                }
            };
            let child = self.modules.len();
            self.modules.push(Module {
                file: file.clone(),
                root: self.modules[id].root,
                parent: Some(id),
                ..Module::default()
            });
            if !is_test {
                self.modules[id].children.insert(name, child);
            }
            match &module.content {
                Some((_, items)) => self.read_items(sources, child, &inner_folder, items, is_test),
                None => self.read_file(sources, child, &file, is_test),
            }
        }
    }
}

fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        _ => format!("{folder}/{name}"),
    }
}

/// `#[cfg(test)]`, or `#[cfg(all(test, ...))]`.
fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let Meta::List(list) = &attribute.meta else {
            return false;
        };
        let condition = list.tokens.to_string().replace(' ', "");
        let of_all = condition.strip_prefix("all(").unwrap_or_default();
        let mut of_all = of_all.trim_end_matches(')').split(',');
        list.path.is_ident("cfg") && (condition == "test" || of_all.any(|part| part == "test"))
    })
}

/// Collects definitions, bindings and paths into a module.
struct Collector<'a>(&'a mut Module);

impl Collector<'_> {
    /// The leaves of a `use`. A private one counts as use of what it names.
    fn bind(&mut self, prefix: &[String], tree: &UseTree, is_private: bool) {
        let mut bind = |name: String, path: Vec<String>| {
            if is_private {
                self.0.paths.insert(path.clone());
            }
            self.0.bound.insert(name, path);
        };
        let with = |name: &syn::Ident| {
            let mut path = prefix.to_vec();
            // `a::b::{self}` is `a::b`.
            if name != "self" || path.is_empty() {
                path.push(name.to_string());
            }
            path
        };
        match tree {
            UseTree::Path(path) => {
                let prefix = with(&path.ident);
                self.bind(&prefix, &path.tree, is_private);
            }
            UseTree::Name(name) => {
                let path = with(&name.ident);
                bind(path.last().expect("a name").clone(), path);
            }
            UseTree::Rename(rename) => bind(rename.rename.to_string(), with(&rename.ident)),
            UseTree::Glob(_) => self.0.globs.push(prefix.to_vec()),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.bind(prefix, tree, is_private);
                }
            }
        }
    }

    /// Paths among the tokens of a macro's arguments, such as `crate::a::b`.
    fn scan(&mut self, tokens: TokenStream) {
        let mut path = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.add(&mut path);
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                other => {
                    self.add(&mut path);
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.scan(group.stream());
                    }
                }
            }
        }
        self.add(&mut path);
    }

    fn add(&mut self, path: &mut Vec<String>) {
        if !path.is_empty() {
            self.0.paths.insert(std::mem::take(path));
        }
    }
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let (attributes, name) = match item {
            Item::Const(item) => (&item.attrs, Some(&item.ident)),
            Item::Enum(item) => (&item.attrs, Some(&item.ident)),
            Item::Fn(item) => (&item.attrs, Some(&item.sig.ident)),
            Item::Macro(item) => (&item.attrs, item.ident.as_ref()),
            Item::Static(item) => (&item.attrs, Some(&item.ident)),
            Item::Struct(item) => (&item.attrs, Some(&item.ident)),
            Item::Trait(item) => (&item.attrs, Some(&item.ident)),
            Item::Type(item) => (&item.attrs, Some(&item.ident)),
            Item::Union(item) => (&item.attrs, Some(&item.ident)),
            Item::Impl(item) => (&item.attrs, None),
            Item::Use(item) => (&item.attrs, None),
            _ => return visit::visit_item(self, item),
        };
        if for_tests(attributes) {
            return;
        }
        self.0.defined.extend(name.map(ToString::to_string));
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_private = matches!(item.vis, Visibility::Inherited);
        self.bind(&[], &item.tree, is_private);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter();
        let names = segments.map(|segment| segment.ident.to_string());
        self.0.paths.insert(names.collect());
        visit::visit_path(self, path);
    }

    /// Attributes name functions too (`value_parser = super::width`).
    fn visit_meta_list(&mut self, list: &'ast syn::MetaList) {
        self.visit_path(&list.path);
        self.scan(list.tokens.clone());
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.scan(call.tokens.clone());
    }
}

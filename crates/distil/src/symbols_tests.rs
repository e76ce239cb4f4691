use super::*;

#[test]
fn definitions_are_known_in_many_languages() {
    use Kind::{Constant, Function, Section, Test, Type};
    for (path, line, kind, name) in [
        ("a.rs", "    pub(super) async fn lease<'a>(&self) -> T {", Function, "lease"),
        ("a.rs", "pub const fn max() -> u32 {", Function, "max"),
        ("a.rs", "pub const ATTEMPTS_MAX: u32 = 3;", Constant, "ATTEMPTS_MAX"),
        ("a.rs", "impl<T> fmt::Display for Lease<T> {", Section, "Lease"),
        ("a.rs", "fn test_lease() {", Test, "test_lease"),
        ("a.py", "    async def run(self, n):", Function, "run"),
        ("a.py", "MAX_ATTEMPTS = int(x)", Constant, "MAX_ATTEMPTS"),
        ("a.py", "class Retrier(Base):", Type, "Retrier"),
        ("a.ts", "export const load = async (id: string) => {", Function, "load"),
        ("a.ts", "export default function App() {", Function, "App"),
        ("a.ts", "  private async fetchAll(id: number): Promise<void> {", Function, "fetchAll"),
        ("a.ts", "export const LIMIT = 5;", Constant, "LIMIT"),
        ("a.test.ts", "  it('keeps the order', async () => {", Test, "keeps the order"),
        ("a.go", "func (s *Store) Lease(ctx context.Context) error {", Function, "Lease"),
        ("a.go", "func TestLease(t *testing.T) {", Test, "TestLease"),
        ("A.java", "    public static List<String> names(int n) throws IOException {", Function, "names"),
        ("A.kt", "    override suspend fun load(id: Long): User {", Function, "load"),
        ("a.c", "static int parse_header(const char *s) {", Function, "parse_header"),
        ("a.h", "#define MAX_LEN 64", Constant, "MAX_LEN"),
        ("a.rb", "  def self.call(x)", Function, "call"),
        ("a.php", "    public function index(): Response", Function, "index"),
        ("a.ex", "  defp merge(a, b) do", Function, "merge"),
        ("a.sh", "deploy() {", Function, "deploy"),
        ("m.sql", "CREATE TABLE IF NOT EXISTS leases (", Section, "leases"),
        ("README.md", "## Installing it", Section, "Installing it"),
    ] {
        let found = definition(line, Syntax::for_path(path));
        let got = found.as_ref().map(|d| (d.kind, d.name.as_str()));
        assert_eq!(got, Some((kind, name)), "{path}: {line}");
    }
}

#[test]
fn what_only_looks_like_one_is_none() {
    for (path, line) in [
        ("a.rs", "    let fn_name = x;"),
        ("a.ts", "  if (x) {"),
        ("a.ts", "  foo.bar(x, () => {"),
        ("a.java", "    return compute(x);"),
        ("a.java", "    foo.bar(x);"),
        ("a.c", "    call(x);"),
        ("a.py", "    LIMIT == 3"),
        ("a.yml", "key: value"),
        ("a.rs", ""),
        ("a.go", "func"),
    ] {
        assert_eq!(definition(line, Syntax::for_path(path)), None, "{path}: {line}");
    }
}

#[test]
fn a_place_is_named_by_what_it_stands_in() {
    let above: Vec<String> =
        ["class Retrier:", "    def a(self):", "        pass", "    def run(self):", "        x = 1"]
            .map(String::from)
            .to_vec();
    assert_eq!(enclosing(&above, "        y", Syntax::Python).as_deref(), Some("Retrier.run"));
    assert_eq!(enclosing(&above, "TOP = 1", Syntax::Python), None);
    let rust: Vec<String> = ["impl Lease {", "    fn take(&self) {"].map(String::from).to_vec();
    assert_eq!(enclosing(&rust, "        y();", Syntax::Rust).as_deref(), Some("Lease.take"));
}

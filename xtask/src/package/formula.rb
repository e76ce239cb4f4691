# Installs a Homebrew formula without Homebrew: evaluates the part of its language that ours uses, downloads the
# tarball, verifies it, and runs `install` and `test`.
#
#   ruby formula.rb FORMULA CELLAR OS ARCH
require "digest"
require "fileutils"

FORMULA, CELLAR = ARGV.take(2).map { |path| File.expand_path(path) }
OS, ARCH = ARGV.drop(2)

class Formula
  class << self
    def fields = @fields ||= {}
    def test(&block) = fields[:test] = block
    def on_macos = OS == "macos" && yield
    def on_linux = OS == "linux" && yield
    def on_arm = ARCH == "aarch64" && yield
    def on_intel = ARCH == "x86_64" && yield

    %i[desc homepage version license url sha256].each do |name|
      define_method(name) do |value|
        raise "#{name} is given twice" if fields.key?(name)
        fields[name] = value
      end
    end

    def inherited(formula) = (super; @@formula = formula)
    def formula = @@formula
  end

  # The directory of programs: `bin.install "x"` copies, `bin/"x"` names.
  class Bin < String
    def install(name) = (FileUtils.mkdir_p(self); FileUtils.install(name, self, mode: 0o755))
    def /(name) = File.join(self, name)
  end

  def bin = Bin.new(File.join(CELLAR, "bin"))

  def system(*words)
    Kernel.system(*words.map(&:to_s)) || raise("failed: #{words.join(" ")}")
  end
end

load FORMULA
fields = Formula.formula.fields
missing = %i[desc homepage version license url sha256 test].reject { |name| fields[name] }
raise "the formula lacks #{missing.join(", ")}" unless missing.empty?
name = File.basename(FORMULA, ".rb")
expected = name.split("-").map(&:capitalize).join
raise "#{name}.rb defines #{Formula.formula}" unless Formula.formula.name == expected

tarball = fields[:url].delete_prefix("file://")
actual = Digest::SHA256.file(tarball).hexdigest
raise "checksum mismatch: #{actual}" unless actual == fields[:sha256]
stage = File.join(CELLAR, "stage")
FileUtils.mkdir_p(stage)
Kernel.system("tar", "-xzf", tarball, "-C", stage) || raise("cannot unpack #{tarball}")
# Homebrew works in the only directory of a tarball.
inside = Dir.children(stage)
Dir.chdir(inside.one? ? File.join(stage, inside.first) : stage) do
  formula = Formula.formula.new
  formula.install
  formula.instance_eval(&fields[:test])
  puts formula.caveats
end
FileUtils.rm_r(stage)

package code

// find gives a language by its name in lower case.
func find(name string) *language {
	c := language{line: []string{"//"}, open: "/*", shut: "*/", quotes: `"'`}
	with := func(words string) *language { c.words = words; return &c }
	switch name {
	case "go", "golang":
		c.long = []string{"`"}
		return with("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false")
	case "js", "javascript", "jsx", "ts", "typescript", "tsx", "mjs":
		c.long = []string{"`"}
		return with("abstract any as async await break case catch class const continue default delete do else enum export extends false finally for from function if implements import in instanceof interface let new null of private public readonly return static super switch this throw true try type typeof undefined var void while yield")
	case "c", "h", "cpp", "c++", "cc", "hpp", "objc":
		return with("auto bool break case catch char class const continue default delete do double else enum extern false float for friend goto if inline int long namespace new nullptr operator private protected public return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while")
	case "rust", "rs":
		c.quotes = `"`
		return with("as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while")
	case "java", "kotlin", "kt", "scala", "swift", "cs", "csharp", "dart":
		c.long = []string{`"""`}
		return with("abstract as async await break case catch class const continue data def default do else enum extends false final finally for fun func guard if implements import in init instanceof interface internal is let match namespace new null object open override package private protected public return sealed self static struct super switch this throw throws true try type using val var void when where while with yield")
	case "php":
		c.line = []string{"//", "#"}
		return with("abstract and array as break case catch class const continue default do echo else elseif extends false final fn for foreach function if implements interface match namespace new null or private protected public require return static switch throw trait true try use var while")
	case "css", "scss", "less":
		return with("important")
	case "json", "jsonc", "json5":
		return with("true false null")
	}
	return findMore(name)
}

func findMore(name string) *language {
	h := language{line: []string{"#"}, quotes: `"'`}
	with := func(words string) *language { h.words = words; return &h }
	switch name {
	case "py", "python", "python3":
		h.long = []string{`"""`, `'''`}
		return with("and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return True try while with yield self")
	case "sh", "bash", "zsh", "shell", "console":
		return with("case do done elif else esac export fi for function if in local return select then until while")
	case "rb", "ruby":
		return with("alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield")
	case "yaml", "yml":
		return with("true false null yes no")
	case "toml", "ini", "conf", "properties":
		return with("true false")
	case "dockerfile", "docker":
		h.fold = true
		return with("from run cmd label expose env add copy entrypoint volume user workdir arg onbuild stopsignal healthcheck shell as")
	case "make", "makefile":
		return with("ifeq ifneq ifdef ifndef else endif include define endef export")
	case "perl", "pl", "r":
		return with("else for foreach function if last my next our package return sub unless use while NULL TRUE FALSE")
	case "sql":
		return &language{line: []string{"--"}, open: "/*", shut: "*/", quotes: `'"`, fold: true, words: "add all alter and as asc between by case check column constraint create default delete desc distinct drop else end exists foreign from full group having in index inner insert into is join key left like limit not null offset on or order outer primary references returning right select set table then union unique update using values view when where with"}
	case "lua":
		return &language{line: []string{"--"}, quotes: `"'`, words: "and break do else elseif end false for function if in local nil not or repeat return then true until while"}
	case "html", "xml", "svg", "vue":
		return &language{open: "<!--", shut: "-->", quotes: `"`}
	case "diff", "patch":
		return &language{diff: true}
	}
	return nil
}

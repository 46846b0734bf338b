package manifest

import (
	"fmt"
	"strings"
)

// Entrypoint is where a function of a bundle is: the `module:function` of a
// tool or a parser.
type Entrypoint struct {
	Module   string
	Function string
}

// ParseEntrypoint reads `module:function`. Neither the module's parts nor the
// function may begin with an underscore, and a module that isn't below tools
// may not begin with the name of one of Python's own.
func ParseEntrypoint(s string) (Entrypoint, error) {
	if !compiled().match(patternEntry, s) || len(s) > 200 {
		return Entrypoint{}, fmt.Errorf("read entrypoint %s: expected module:function, such as tools.analyze:run", show(s))
	}
	module, function, _ := strings.Cut(s, ":")
	e := Entrypoint{Module: module, Function: function}
	first, _, _ := strings.Cut(module, ".")
	if first != "tools" && PythonModule(first) {
		return Entrypoint{}, fmt.Errorf("read entrypoint %s: %s is a module of Python's own; write tools.%s for one of the toolset's", show(s), first, s)
	}
	return e, nil
}

// String is the form that is parsed.
func (e Entrypoint) String() string { return e.Module + ":" + e.Function }

// Files are the paths in a bundle where the module may be, the likeliest
// first. The first that is there is meant.
func (e Entrypoint) Files() []string {
	path := strings.ReplaceAll(e.Module, ".", "/")
	var out []string
	if rest, ok := strings.CutPrefix(path, "tools/"); ok {
		out = append(out, "tools/"+rest+".py", "tools/"+rest+"/__init__.py")
	}
	return append(out, "tools/"+path+".py", "tools/"+path+"/__init__.py")
}

// PythonModule tells whether a name is a top-level module of Python's standard
// library, in any version from 3.9 to 3.14. A file of that name in a bundle
// works only as a part of the tools package.
func PythonModule(name string) bool {
	return strings.Contains(pythonModules, " "+name+" ")
}

// pythonModules is sys.stdlib_module_names without those that begin with _.
const pythonModules = " abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii " +
	"binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys " +
	"compileall compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses " +
	"datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl " +
	"filecmp fileinput fnmatch formatter fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib " +
	"grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools " +
	"json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap " +
	"modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator " +
	"optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix " +
	"posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re " +
	"readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site " +
	"smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat " +
	"statistics string stringprep struct subprocess sunau symbol symtable sys sysconfig syslog tabnanny tarfile telnetlib " +
	"tempfile termios test textwrap this threading time timeit tkinter token tokenize tomllib trace traceback " +
	"tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave " +
	"weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo "

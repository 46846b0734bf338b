package validate

import (
	"strings"

	"github.com/fettle-cli/fettle/toolset/manifest"
)

// The codes of this package's own findings. They are stable.
const (
	CodeMore          = "more"
	CodeMissingFile   = "missing-file"      // the manifest names a file that isn't there
	CodeFunction      = "function"          // the module has no such function
	CodeUnchecked     = "unchecked"         // a function that can't be seen, such as one that is made
	CodeParameters    = "parameters"        // a function's parameters don't fit how it is called
	CodePython        = "python-syntax"     // a module that isn't Python
	CodeImport        = "python-import"     // an import of what isn't there
	CodeRequirement   = "requirement"       // an import of a package that no requirement names
	CodeNetwork       = "network"           // code that reaches out without a permission
	CodeEnv           = "environment"       // a variable that is read without a permission, or the reverse
	CodeRenderer      = "renderer"          // a place that a renderer can't show
	CodeHTML          = "html"              // a page that can't be read
	CodeHTMLOutside   = "html-outside"      // a page that loads from elsewhere
	CodeHTMLSeparate  = "html-separate"     // a page that wants a file beside it
	CodeHTMLBlocked   = "html-blocked"      // a page that does what its frame forbids
	CodeHTMLData      = "html-data"         // a page that never looks at its data
	CodeSecret        = manifest.CodeSecret // a key in plain text
	CodeUnused        = "unused"            // a file that nothing mentions
	CodeReadme        = "no-readme"         // there is no README
	CodeNotLookedInto = "not-looked-into"   // too large to be looked through
	CodeConverted     = "converted"         // what another format's bundle becomes
	bundlePrefix      = "bundle-"
)

// Code is one kind of finding.
type Code struct {
	// Name is what findings carry.
	Name string `json:"name"`
	// Help says what it is about.
	Help string `json:"help"`
}

// Codes are the kinds of findings that have something to say about themselves,
// by name.
func Codes() []Code {
	return []Code{
		{bundlePrefix + "address", "Toolsets are fetched from public https addresses alone."},
		{bundlePrefix + "bomb", "An entry that grows more than 200 times its size is not unpacked."},
		{bundlePrefix + "checksum", "The archive's contents aren't what its directory tells; pack the toolset anew."},
		{bundlePrefix + "count", "A toolset has at most 2,000 files."},
		{bundlePrefix + "depth", "Folders lie at most 20 levels deep."},
		{bundlePrefix + "duplicate", "Two names that one system takes for the same file can't be in one bundle."},
		{bundlePrefix + "encrypted", "A bundle is not encrypted: people have to be able to look into it."},
		{bundlePrefix + "format", "The archive is broken or ambiguous; pack the toolset anew."},
		{bundlePrefix + "manifest", "A toolset has its toolset.yaml at the top, of at most 256 KiB."},
		{bundlePrefix + "method", "Entries are stored or deflated; pack the toolset anew."},
		{bundlePrefix + "mismatch", "Two readers would see different files in this archive; pack the toolset anew."},
		{bundlePrefix + "name", "Names must be portable: UTF-8, none that Windows gives a meaning, no control characters."},
		{bundlePrefix + "path", "Every path leads to a place below the bundle's root."},
		{bundlePrefix + "size", "A file has at most 16 MiB, and all of them 64 MiB."},
		{bundlePrefix + "toplevel", "At the top are toolset.yaml, README, LICENSE, NOTICE and CHANGELOG files, and the folders tools, artifacts and assets. tools holds text alone; compiled code is taken nowhere."},
		{bundlePrefix + "type", "A bundle holds regular files and folders alone: no links, no special files."},
		{CodeConverted, "A bundle of another format becomes a toolset at import; this is what people will see."},
		{manifest.CodeControl, "Characters that people can't see can hide what a text says; take them out."},
		{manifest.CodeDuplicateID, "Ids must be told apart, also where case doesn't count."},
		{CodeEnv, "Tools see the environment variables that permissions.env names, and no others."},
		{manifest.CodeEntrypoint, "An entrypoint is module:function, with the module's file below tools/."},
		{CodeFunction, "An entrypoint names a function of the module, with a def at its top level."},
		{CodeHTML, "A page has to be UTF-8 and of at most 8 MiB."},
		{CodeHTMLBlocked, "Pages are shown in a sandboxed frame of another origin: without network, storage, dialogs, new windows and eval."},
		{CodeHTMLData, "The data is window.__TOOL_DATA__ in the page."},
		{CodeHTMLOutside, "Pages are shown without any network. Put scripts, styles, fonts and pictures into the page itself (pictures and fonts as data: addresses)."},
		{CodeHTMLSeparate, "A page is shown alone, without the files beside it. Put them into the page itself."},
		{manifest.CodeInjection, "A description is read by models with every request; it should say what the tool does, and nothing else."},
		{CodeImport, "Modules import what is in the bundle, in Python itself, or in a package among requirements."},
		{CodeMissingFile, "The manifest names a file that the bundle doesn't have."},
		{manifest.CodeMissingField, "The field is required; the schema of toolset.yaml has all fields."},
		{manifest.CodeShell, "What a shell runs is in its arguments, where nobody looks; name the program itself."},
		{manifest.CodeUnpinned, "Without an exact version, another program may run tomorrow; write name@1.2.3 or name==1.2.3."},
		{CodeNetwork, "Tools have no network; hosts in permissions.network are let through once the user agrees."},
		{CodeNotLookedInto, "Very large files are not looked through."},
		{CodeParameters, "A tool's function is called with the arguments of input_schema as keywords, and with workspace and context if it has such parameters; or it has exactly the parameters params, db, user_id and context."},
		{CodePython, "The module can't be imported."},
		{CodeReadme, "A README tells people what the toolset is for before they import it."},
		{manifest.CodeReference, "Renderers may use $args, $return, $chat_id, $workspace and $toolset; what isn't there is shown as nothing."},
		{CodeRenderer, "A renderer shows files of the workspace, pages of the bundle, and addresses of this machine."},
		{CodeRequirement, "Packages that tools import are listed in requirements, with versions, and installed once the user agrees; with hashes, pip is held to those files."},
		{manifest.CodeSchema, "A JSON Schema of draft 2020-12 (or an older one that $schema names), without references to elsewhere."},
		{CodeSecret, "Whoever gets the bundle gets the key. Take it out, make it invalid where it was real, and let the user give it: permissions.env, or ${NAME} for an MCP server."},
		{manifest.CodeSecretName, "The variable holds a key of the user's for another service; ask for one of your own if you can."},
		{manifest.CodeTest, "A test calls a tool with arguments that fit its input_schema."},
		{CodeUnchecked, "The function is made in a way that can't be seen without running it, so its parameters were not checked."},
		{manifest.CodeUnknownField, "The field isn't known; the schema of toolset.yaml has all fields."},
		{manifest.CodeUnknownName, "The name has to be one that the manifest defines."},
		{CodeUnused, "Nothing in the bundle mentions the file. If no tool needs it, leave it out."},
		{manifest.CodeNumber, "Put the value into quotes: readers of YAML differ on numbers like this."},
	}
}

// help finds the help of a code; empty where the message says all.
func help(name string) string {
	for _, c := range Codes() {
		if c.Name == name {
			return c.Help
		}
	}
	return ""
}

// FromBundle tells whether a finding is a refusal of the bundle as such.
func (f Finding) FromBundle() bool { return strings.HasPrefix(f.Code, bundlePrefix) }

package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const unixMode = 16

func TestRefusedZIPs(t *testing.T) {
	t.Parallel()
	file := func(name string) craft { return demo(crafted{name: name, data: "x"}) }
	mode := func(name string, m uint32) craft {
		return demo(crafted{name: name, data: "assets/x", external: m << unixMode})
	}
	with := func(c craft, change func(*craft)) craft { change(&c); return c }
	first := func(change func(*crafted)) craft { c := demo(); change(&c.entries[1]); return c }
	for _, tt := range []struct {
		name string
		zip  craft
		code Code
	}{
		{"climbs at its end", file("tools/.."), Path},
		{"climbs in the middle", file("a/../b"), Path},
		{"UNC path", file(`\\server\share\x`), Path},
		{"absolute", file("/toolset.yaml"), Path},
		{"double slash in front", file("//x/y"), Path},
		{"drive", file("d:/x"), Path},
		{"drive and folder", file("Z:x/y"), Path},
		{"dot folder", file("./tools/x.py"), Path},
		{"folder without a name", demo(crafted{name: "/"}), Name},
		{"two slashes at the end", demo(crafted{name: "assets//"}), Path},

		{"device with a space", file("assets/nul .txt"), Name},
		{"device with two endings", file("assets/aux.tar.gz"), Name},
		{"device as a folder", file("assets/LPT9/x"), Name},
		{"console", file("assets/CONIN$"), Name},
		{"superscript port", file("assets/lpt².x"), Name},
		{"folder that ends in a dot", file("assets/a./x"), Name},
		{"stream of a folder", file("assets/a:b/x"), Name},
		{"question mark", file("assets/a?.txt"), Name},
		{"pipe", file("assets/a|b"), Name},
		{"C1 control", file("assets/a\u0085b"), Name},
		{"zero width space", file("assets/a\u200bb"), Name},
		{"byte order mark", file("assets/\ufeffa"), Name},
		{"line separator", file("assets/a\u2028b"), Name},
		{"right-to-left mark", file("assets/a\u200fb"), Name},
		{"tag characters", file("assets/a\U000e0041b"), Name},
		{"private use", file("assets/a\ue000"), Name},
		{"replacement character", file("assets/a\ufffd"), Name},
		{"NUL", file("assets/a\x00.py"), Name},
		{"tab", file("assets/a\tb"), Name},
		{"name of no known code page", demo(crafted{name: "assets/\xe9", data: "x", flags: 4}), Name},
		{"UTF-8 that isn't marked", demo(crafted{name: "assets/é", data: "x", flags: 4}), Name},
		{"surrogate in UTF-8", file("assets/\xed\xa0\x80"), Name},
		{"long name", file("assets/" + strings.Repeat("a", 201)), Name},
		{"long path", file("assets/" + strings.Repeat(strings.Repeat("a", 60)+"/", 12) + "x"), Name},
		{"deep", file("assets/" + strings.Repeat("d/", 20) + "x"), Depth},

		{"link", mode("assets/x", 0o120777), Type},
		{"socket", mode("assets/x", 0o140644), Type},
		{"block device", mode("assets/x", 0o060644), Type},
		{"pipe file", mode("assets/x", 0o010644), Type},
		{"whiteout", mode("assets/x", 0o160000), Type},
		{"folder's mode on a file", mode("assets/x", 0o040755), Type},
		{"file's mode on a folder", demo(crafted{name: "assets/x/", external: 0o100644 << unixMode}), Type},
		{"folder with contents", demo(crafted{name: "assets/x/", data: "hidden", method: -1}), Type},
		{"DOS folder on a file", demo(crafted{name: "assets/x", data: "x", external: dosFolder}), Type},
		{"reparse point", demo(crafted{name: "assets/x", data: "x", external: dosReparse}), Type},
		{"volume label", demo(crafted{name: "assets/x", external: dosVolume}), Type},

		{"twice the same", demo(crafted{name: "assets/a", data: "1"}, crafted{name: "assets/a", data: "2"}), Duplicate},
		{"manifest twice", demo(crafted{name: "toolset.yaml", data: "2"}), Duplicate},
		{"other case of a folder", demo(crafted{name: "assets/a/x"}, crafted{name: "assets/A/y"}), Duplicate},
		{"other case of a letter beyond ASCII", demo(crafted{name: "assets/É"}, crafted{name: "assets/é"}), Duplicate},
		{"Kelvin's sign", demo(crafted{name: "assets/\u212a"}, crafted{name: "assets/k"}), Duplicate},
		{"ligature", demo(crafted{name: "assets/\ufb01x"}, crafted{name: "assets/fix"}), Duplicate},
		{"sharp s", demo(crafted{name: "assets/straße"}, crafted{name: "assets/STRASSE"}), Duplicate},
		{"full width", demo(crafted{name: "assets/ａ"}, crafted{name: "assets/a"}), Duplicate},
		{"file where a folder is", demo(crafted{name: "assets/a"}, crafted{name: "assets/a/b"}), Duplicate},
		{"file where a folder is, in other case", demo(crafted{name: "assets/a/b"}, crafted{name: "assets/A"}), Duplicate},
		{"folder and file", demo(crafted{name: "assets/a/"}, crafted{name: "assets/a"}), Duplicate},
		{"two spellings of a folder of its own", demo(crafted{name: "assets/a/"}, crafted{name: "assets/A/"}), Duplicate},

		{"local header with another size", first(func(e *crafted) { e.lsize = 7 }), Mismatch},
		{"local header with a flag more", first(func(e *crafted) { e.lflag = flagUTF8 }), Mismatch},
		{"local header that hides encryption", first(func(e *crafted) { e.lflag = flagEncrypted }), Mismatch},
		{"local header with a longer name", first(func(e *crafted) { e.local = "tools/hello.py/../../../etc/passwd" }), Mismatch},
		{"data descriptor with another checksum", first(func(e *crafted) { e.descriptor, e.badCRC = 16, true }), Mismatch},
		{"second name", demo(crafted{name: "assets/a", data: "x", extra: extraField(extraUniPath, "\x01\x00\x00\x00\x00../../x")}), Mismatch},
		{"second name in the local header", demo(crafted{name: "assets/a", data: "x", lextra: extraField(extraUniPath, "\x01\x00\x00\x00\x00../../x")}), Mismatch},
		{"stored with two sizes", demo(crafted{name: "assets/a", data: "xyz", method: -1, size: 5}), Mismatch},
		{"two ends that differ", with(demo(), func(c *craft) { c.wideEnd, c.count = true, 3 }), Mismatch},

		{"wrong checksum", first(func(e *crafted) { e.crc = 12345 }), Checksum},
		{"wrong checksum of a stored file", first(func(e *crafted) { e.crc, e.method = 12345, -1 }), Checksum},
		{"holds more than it tells", first(func(e *crafted) { e.size = 3 }), Checksum},
		{"holds less than it tells", first(func(e *crafted) { e.size = 300 }), Checksum},
		{"no deflate stream", demo(crafted{name: "assets/a", data: "\xff\xff\xff\xff", method: methodDeflate, size: 9}), Checksum},

		{"huge by its own account", demo(crafted{name: "assets/a", data: strings.Repeat("ab", 64<<10), method: methodDeflate, size: 17 * mib}), Size},
		{"too much in all", demo(manyLarge()...), Size},
		{"ratio", demo(crafted{name: "assets/a", data: strings.Repeat("\x00", 3*mib)}), Bomb},
		{"impossible size", demo(crafted{name: "assets/a", data: "x", size: all32, extra: extraField(extraZIP64, u64(1<<63))}), Bomb},
		{"size beyond counting", demo(crafted{name: "assets/a", data: "x", size: all32, extra: extraField(extraZIP64, u64(1<<62)), lextra: extraField(extraZIP64, u64(1<<62))}), Bomb},
		{"one entry listed twice", with(demo(crafted{name: "assets/a", data: "x", method: -1}), func(c *craft) {
			c.entries = append(c.entries, crafted{name: "assets/b", data: "x", method: -1, sameAs: 3})
		}), Bomb},

		{"end tells one entry less", with(demo(), func(c *craft) { c.count = -1 }), Count},
		{"end tells one entry more", with(demo(), func(c *craft) { c.count = 1 }), Count},
		{"ZIP64 end tells billions", with(demo(), func(c *craft) { c.wideEnd, c.wideLie = true, 1<<33 }), Count},
		{"too many files", demo(manyFiles(2000)...), Count},

		{"strong encryption", first(func(e *crafted) { e.flags = flagStrong }), Encrypted},
		{"masked headers", first(func(e *crafted) { e.flags = flagMasked }), Encrypted},
		{"AES field", demo(crafted{name: "assets/a", data: "x", extra: extraField(extraAES, "\x01\x00AE\x03\x08\x00")}), Encrypted},
		{"LZMA", first(func(e *crafted) { e.method = 14 }), Method},
		{"xz", first(func(e *crafted) { e.method = 95 }), Method},
		{"imploded", first(func(e *crafted) { e.method = 6 }), Method},

		{"comment", with(demo(), func(c *craft) { c.comment = "hello" }), Format},
		{"comment that is a ZIP's end", with(demo(), func(c *craft) { c.comment = string(demo().bytes()) }), Format},
		{"comment of an entry", first(func(e *crafted) { e.comment = "hello" }), Format},
		{"comment in an extra field", first(func(e *crafted) { e.extra = extraField(extraUniNote, "\x01\x00\x00\x00\x00hi") }), Format},
		{"one byte behind the end", with(demo(), func(c *craft) { c.suffix = "\x00" }), Format},
		{"a ZIP behind the end", with(demo(), func(c *craft) { c.suffix = string(demo().bytes()) }), Format},
		{"program before it", with(demo(), func(c *craft) { c.prefix, c.lies = "#!/bin/sh\nexit\n", true }), Format},
		{"program before it, offsets from behind", with(demo(), func(c *craft) { c.prefix = "MZ" }), Format},
		{"another entry before it", with(demo(), func(c *craft) { c.prefix, c.lies = hiddenEntry(), true }), Format},
		{"bytes before the directory", with(demo(), func(c *craft) { c.gap = "x" }), Format},
		{"an entry before the directory", with(demo(), func(c *craft) { c.gap = hiddenEntry() }), Format},
		{"bytes behind the contents", first(func(e *crafted) { e.garbage = "hidden" }), Format},
		{"several parts", with(demo(), func(c *craft) { c.disks = 1 }), Format},
		{"entry in another part", first(func(e *crafted) { e.disk = 2 }), Format},
		{"unknown flag", first(func(e *crafted) { e.flags = 0x4000 }), Format},
		{"patch", first(func(e *crafted) { e.flags = 0x20 }), Format},
		{"ZIP64 field missing", demo(crafted{name: "assets/a", data: "x", size: all32}), Format},
		{"ZIP64 field too short", demo(crafted{name: "assets/a", data: "x", size: all32, extra: extraField(extraZIP64, "\x01\x00")}), Format},
		{"two ZIP64 fields", demo(crafted{name: "assets/a", data: "x", extra: extraField(extraZIP64, u64(1)) + extraField(extraZIP64, u64(2))}), Format},
		{"extra fields that reach too far", demo(crafted{name: "assets/a", data: "x", extra: u16(1) + u16(900)}), Format},
		{"half an extra field", demo(crafted{name: "assets/a", data: "x", lextra: "\x55\x54\x05"}), Format},
		{"descriptor of another length", with(first(func(e *crafted) { e.flags = flagDescriptor }), func(c *craft) {}), Format},

		{"agent's instructions", file("AGENTS.md"), TopLevel},
		{"MCP configuration", file(".mcp.json"), TopLevel},
		{"settings of an editor", file("assets/.vscode/tasks.json"), TopLevel},
		{"hidden among the tools", file("tools/.env"), TopLevel},
		{"hook at start-up", file("usercustomize.py"), TopLevel},
		{"path file", file("tools/x.pth"), TopLevel},
		{"start script", file("setup.py"), TopLevel},
		{"README that is a program", file("README.exe"), TopLevel},
		{"file called tools", craft{entries: []crafted{{name: "toolset.yaml", data: demoManifest}, {name: "tools", data: "x"}}}, TopLevel},
		{"compiled module", file("tools/a/__pycache__/x.cpython-311.pyc"), TopLevel},
		{"library with a version", file("assets/libx.so.6"), TopLevel},
		{"program", file("assets/run.EXE"), TopLevel},
		{"pickle", file("assets/model.pkl"), TopLevel},
		{"binary among the tools", demo(crafted{name: "tools/data.py", data: "a\x00b"}), TopLevel},
		{"other encoding among the tools", demo(crafted{name: "tools/latin.py", data: "# caf\xe9\n"}), TopLevel},
		{"half a character at the end", demo(crafted{name: "tools/half.py", data: "# caf\xc3"}), TopLevel},

		{"manifest.json of something else", craft{entries: []crafted{{name: "manifest.json", data: `{"name": "extension"}`}}}, Manifest},
		{"manifest in a folder below", craft{entries: []crafted{{name: "tools/toolset.yaml", data: demoManifest}, {name: "assets/a"}}}, Manifest},
		{"large manifest", craft{entries: []crafted{{name: "toolset.yaml", data: strings.Repeat("# 0123456789\n", 25_000)}}}, Manifest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := openBytes(t, tt.zip.bytes())
			if err == nil {
				b.Close()
			}
			if CodeOf(err) != tt.code {
				t.Errorf("got %q (%v), want %q", CodeOf(err), err, tt.code)
			}
		})
	}
}

func hiddenEntry() string {
	return u32(sigLocal) + u16(20) + u16(0) + u16(0) + u32(0) + u32(0) + u32(1) + u32(1) + u16(3) + u16(0) + "../" + "x"
}

func manyFiles(n int) []crafted {
	var out []crafted
	for i := range n {
		out = append(out, crafted{name: fmt.Sprintf("assets/%04d.txt", i)})
	}
	return out
}

// manyLarge is more than a toolset may have in all, by what is told.
func manyLarge() []crafted {
	var out []crafted
	for i := range 6 {
		out = append(out, crafted{name: fmt.Sprintf("assets/%d", i), data: strings.Repeat("ab", 40<<10), method: methodDeflate, size: 15 * mib})
	}
	return out
}

func TestAcceptedZIPs(t *testing.T) {
	t.Parallel()
	plain, err := openBytes(t, demo().bytes())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	with := func(c craft, change func(*craft)) craft { change(&c); return c }
	all := func(change func(*crafted)) craft {
		c := demo()
		for i := range c.entries {
			change(&c.entries[i])
		}
		return c
	}
	times := extraField(0x5455, "\x03abcdefgh") + extraField(0x7875, "\x01\x04\x00\x00\x00\x00\x04\x00\x00\x00\x00")
	// Each is the same content as the plain one.
	for _, tt := range []struct {
		name string
		zip  craft
		note string
	}{
		{"stored", all(func(e *crafted) { e.method = -1 }), ""},
		{"descriptor without signature", all(func(e *crafted) { e.descriptor = 12 }), ""},
		{"descriptor with signature", all(func(e *crafted) { e.descriptor = 16 }), ""},
		{"wide descriptor without signature", all(func(e *crafted) { e.descriptor = 20 }), ""},
		{"wide descriptor", all(func(e *crafted) { e.descriptor, e.wide = 24, true }), ""},
		{"ZIP64 fields", all(func(e *crafted) { e.wide = true }), ""},
		{"ZIP64 end", with(demo(), func(c *craft) { c.wideEnd = true }), ""},
		{"times and owners", all(func(e *crafted) { e.extra, e.lextra = times, times }), ""},
		{"the same name once more", all(func(e *crafted) { e.extra = extraField(extraUniPath, "\x01\x00\x00\x00\x00"+e.name) }), ""},
		{"marked as UTF-8", all(func(e *crafted) { e.flags = flagUTF8 }), ""},
		{"level of packing", all(func(e *crafted) { e.flags = 2 }), ""},
		{"folders of their own", demo(crafted{name: "tools/", external: 0o040755<<unixMode | dosFolder}, crafted{name: "assets/"}), ""},
		{"in one folder", craft{entries: []crafted{
			{name: "demo-1.0/"}, {name: "demo-1.0/tools/hello.py", data: demo().entries[1].data}, {name: "demo-1.0/toolset.yaml", data: demoManifest},
		}}, "this folder"},
		{"by Finder", demo(crafted{name: "__MACOSX/._toolset.yaml", data: "x"}, crafted{name: "tools/.DS_Store", data: "\x00\x01"}, crafted{name: "Thumbs.db", data: "\x00"}), "macOS or Windows"},
		{"executable and more", all(func(e *crafted) { e.external = 0o107755 << unixMode }), "executable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := openBytes(t, tt.zip.bytes())
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			if b.Hash != plain.Hash {
				t.Errorf("the hash differs: %v", b.Files)
			}
			if said := fmt.Sprint(b.Notes); (tt.note == "") != (len(b.Notes) == 0) || !strings.Contains(said, tt.note) {
				t.Errorf("the notes are %v", b.Notes)
			}
			// what we take, the standard library's reader sees the same way
			zr, err := zip.NewReader(bytes.NewReader(tt.zip.bytes()), int64(len(tt.zip.bytes())))
			if err != nil || len(zr.File) != len(tt.zip.entries) {
				t.Errorf("archive/zip: %v", err)
			}
		})
	}
	for name, entry := range map[string]crafted{
		"decomposed name": {name: "assets/re\u0301sume\u0301.txt", data: "x"}, "emoji": {name: "assets/😀.txt", data: "x"}, "spaces": {name: "assets/a b (1).txt", data: "x"},
		"nested": {name: "assets/inner.zip", data: string(demo().bytes())}, "empty file": {name: "tools/__init__.py"}, "license": {name: "LICENSE-MIT", data: "x"},
		"text in pieces": {name: "tools/long.py", data: strings.Repeat("# é€😀\n", 30_000)}, "no device": {name: "assets/console.txt", data: "x"}, "COM10": {name: "assets/com10", data: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := openBytes(t, demo(entry).bytes())
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			got, err := b.ReadFile(entry.name)
			if err != nil || string(got) != entry.data {
				t.Errorf("read %d bytes: %v", len(got), err)
			}
		})
	}
}

// TestCutAnywhere wants a good ZIP that was cut off anywhere to be refused, and
// one with any byte changed to be refused or the same content.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	whole := demo(crafted{name: "assets/a", data: "some more", descriptor: 16}).bytes()
	b, err := openBytes(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	for i := range whole {
		if cut, err := openBytes(t, whole[:i]); err == nil {
			cut.Close()
			t.Errorf("cut at %d it is taken", i)
		}
		changed := bytes.Clone(whole)
		changed[i] ^= 0x40
		c, err := openBytes(t, changed)
		if err != nil {
			continue
		}
		if c.Hash != b.Hash {
			t.Errorf("with byte %d changed it is another bundle, and taken", i)
		}
		c.Close()
	}
}

func TestSignedMCPBundle(t *testing.T) {
	t.Parallel()
	mcpb := craft{entries: []crafted{{name: "manifest.json", data: `{"manifest_version": "0.3"}`}, {name: "server/index.js", data: "1"}, {name: "server/node_modules/a/.bin.json", data: "{}"}}}
	block := "MCPB_SIG_V1" + u32(5) + "12345" + "MCPB_SIG_END"
	for _, tt := range []struct {
		name string
		raw  []byte
		code Code
	}{
		{"unsigned", mcpb.bytes(), ""},
		{"signed", append(mcpb.bytes(), block...), ""},
		{"signature of another length", append(mcpb.bytes(), "MCPB_SIG_V1"+u32(6)+"12345"+"MCPB_SIG_END"...), Format},
		{"something between", append(mcpb.bytes(), "x"+block...), Format},
		{"something behind", append(mcpb.bytes(), block+"x"...), Format},
		{"a signed toolset", append(demo().bytes(), block...), Format},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := openBytes(t, tt.raw)
			if CodeOf(err) != tt.code || tt.code == "" && err != nil {
				t.Fatalf("got %v, want %q", err, tt.code)
			}
			if err == nil {
				if b.Kind != MCPB || strings.Contains(fmt.Sprint(b.Notes), "signed") != (tt.name == "signed") {
					t.Errorf("%s with %v", b.Kind, b.Notes)
				}
				b.Close()
			}
		})
	}
}

func FuzzOpenZIP(f *testing.F) {
	f.Add(demo().bytes())
	f.Add(demo(crafted{name: "assets/é", data: "x", descriptor: 24, wide: true}, crafted{name: "assets/"}).bytes())
	c := demo()
	c.wideEnd = true
	f.Add(c.bytes())
	f.Add(append(craft{entries: []crafted{{name: "SKILL.md", data: "---\nname: x\n---\n"}}}.bytes(), "MCPB_SIG_V1\x00\x00\x00\x00MCPB_SIG_END"...))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := openBytes(t, raw)
		if err != nil {
			if CodeOf(err) == "" || err.Error() == "" {
				t.Errorf("an error without a code: %v", err)
			}
			return
		}
		defer b.Close()
		zr, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatalf("taken here, refused by archive/zip: %v", err)
		}
		files := map[string]uint64{}
		for _, e := range zr.File {
			files[e.Name] = e.UncompressedSize64
		}
		for _, file := range b.Files {
			got, err := b.ReadFile(file.Path)
			if err != nil || int64(len(got)) != file.Size {
				t.Errorf("%s: %v", file.Path, err)
			}
			if size, ok := files[file.Path]; ok && size != uint64(file.Size) {
				t.Errorf("%s has %d bytes here and %d for archive/zip", file.Path, file.Size, size)
			}
		}
	})
}

// FuzzOpenTarGz packs any bytes as a tar and opens that: it is refused by an error
// of ours, or all of its files are there, each under a name of its own within it.
func FuzzOpenTarGz(f *testing.F) {
	regular := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg} }
	good := []tar.Header{regular("toolset.yaml"), regular("tools/hello.py"), {Name: "assets/", Typeflag: tar.TypeDir}}
	data := map[string]string{"toolset.yaml": demoManifest, "tools/hello.py": "def run(workspace):\n    return {}\n"}
	for _, more := range [][]tar.Header{
		nil, {regular("../x")}, {regular("/x")}, {regular("tools/hello.py")}, {regular("./tools/b.py")},
		{{Name: "l", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}}, {{Name: "assets/" + strings.Repeat("é", 90), Typeflag: tar.TypeReg}},
	} {
		f.Add(untarred(f, tarred(f, append(good[:3:3], more...), data, nil)))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, plain []byte) {
		var packed bytes.Buffer
		gz := gzip.NewWriter(&packed)
		if _, err := gz.Write(plain); err != nil {
			t.Fatal(err)
		}
		if err := gz.Close(); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		b, err := openTarGz(t.Context(), &packed, int64(packed.Len()), Options{TempDir: dir})
		if err != nil {
			if CodeOf(err) == "" || err.Error() == "" {
				t.Errorf("an error without a code: %v", err)
			}
		} else {
			seen := map[string]bool{}
			for _, file := range b.Files {
				got, err := b.ReadFile(file.Path)
				if err != nil || int64(len(got)) != file.Size {
					t.Errorf("%s: %v", file.Path, err)
				}
				if key := strings.ToLower(file.Path); seen[key] || !filepath.IsLocal(file.Path) {
					t.Errorf("%q is there twice, or leads out", file.Path)
				} else {
					seen[key] = true
				}
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

// untarred is the tar in a tar.gz.
func untarred(t testing.TB, raw []byte) []byte {
	t.Helper()
	gz, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(gz)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

package facts

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
)

func TestBuiltinTable(t *testing.T) {
	t.Parallel()
	table := Builtin()
	if n := len(builtin); n > 6<<10 {
		t.Errorf("the builtin table has %d bytes; it is meant to have about 4 KB", n)
	}
	for _, name := range Providers() {
		if len(table.Providers[name]) == 0 {
			t.Errorf("the table has no models of %s", name)
		}
	}
	m := table.Find("https://api.openai.com/v1", "gpt-5.5")
	if m == nil || m.Context != 1_050_000 || m.Output != 128_000 || m.Price == nil || m.Price.Input != 5_000_000 || m.Price.Above == nil || m.Price.Above.Over != 272_000 {
		t.Fatalf("gpt-5.5 is %+v", m)
	}
	d := m.Described()
	if d.Chats != provider.Yes || d.Tools != provider.Yes || d.Images != provider.Yes || m.TakesTemperature() != provider.No {
		t.Errorf("gpt-5.5 is described as %+v", d)
	}
	if e := table.Find("https://api.openai.com", "text-embedding-3-small"); e == nil || e.Described().Chats != provider.No {
		t.Errorf("an embedding model counts as one that chats: %+v", e)
	}
}

func TestFindLooksAtTheAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address, name, want string
	}{
		{"https://api.openai.com", "gpt-5", "gpt-5"},
		{"https://API.openai.com:443/v1", "gpt-5-2025-08-07", "gpt-5"},
		{"https://api.anthropic.com", "claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001"},
		{"https://api.groq.com/openai/v1", "openai/gpt-oss-120b", "openai/gpt-oss-120b"},
		{"https://api.openai.com", "gpt-5-2025-99-99", ""},
		{"https://api.openai.com", "claude-sonnet-5", ""},
		{"http://api.openai.com", "gpt-5", ""},
		{"https://api.openai.com.example.org", "gpt-5", ""},
		{"http://127.0.0.1:8080", "gpt-5", ""},
		{"", "gpt-5", ""},
		{"%", "gpt-5", ""},
	} {
		got := ""
		if m := Builtin().Find(c.address, c.name); m != nil {
			got = m.Name
		}
		if got != c.want {
			t.Errorf("at %s, %s is %q, want %q", c.address, c.name, got, c.want)
		}
	}
}

func TestTableSurvivesWritingAndReading(t *testing.T) {
	t.Parallel()
	var first, second bytes.Buffer
	if _, err := Builtin().WriteTo(&first); err != nil {
		t.Fatal(err)
	}
	again, err := Read(bytes.NewReader(first.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.WriteTo(&second); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) || !reflect.DeepEqual(again, Builtin()) {
		t.Error("the table changes when it is written and read")
	}
}

func TestParseLeavesOutWhatItCannotUse(t *testing.T) {
	t.Parallel()
	table, err := Parse([]byte(`{"openai":{"models":{
		"good":{"tool_call":true,"limit":{"context":1000.0,"output":-5},"modalities":{"input":["text"],"output":["text"]},
			"cost":{"input":1.25,"output":10,"cache_read":1e300},"reasoning_options":[{"type":"effort","values":["low","high"]}]},
		"a bad name":{}, "wrong":{"limit":7}, "gone":null, "dear":{"cost":{"input":-1,"output":2}}
	}},"anthropic":{"models":[]},"stranger":{"models":{"x":{}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range table.Providers["openai"] {
		names = append(names, m.Name)
	}
	if want := []string{"dear", "gone", "good"}; !reflect.DeepEqual(names, want) || len(table.Providers) != 1 {
		t.Fatalf("it has %v of %d providers", names, len(table.Providers))
	}
	good, dear := table.Providers["openai"][2], table.Providers["openai"][0]
	if good.Context != 1000 || good.Output != 0 || good.Price.Input != 1_250_000 || good.Price.Cached != nil || len(good.Efforts) != 2 || good.Described().Images != provider.No {
		t.Errorf("good is %+v, %+v", good, good.Price)
	}
	if dear.Price != nil {
		t.Errorf("a negative price is taken: %+v", dear.Price)
	}
}

func TestParseRefusesOtherData(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"", "[]", "null", "{}", "<html>", `{"stranger":{"models":{"x":{}}}}`} {
		if _, err := Parse([]byte(data)); err == nil {
			t.Errorf("%q counts as a table", data)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(builtin)
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if table, err := Read(bytes.NewReader(data)); err == nil {
			table.Find("https://api.openai.com", "gpt-5")
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"openai":{"models":{"gpt":{"limit":{"context":1e9},"cost":{"input":1,"output":2}}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := Parse(data)
		if err != nil {
			return
		}
		table.Date = "2026-01-01"
		var buf bytes.Buffer
		if _, err := table.WriteTo(&buf); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(&buf); err != nil {
			t.Errorf("a table that was parsed can't be read again: %v", err)
		}
	})
}

package facts

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the builtin table
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fettle-cli/fettle/engine/provider"
)

// Table is what is known about models, by provider. It is immutable and safe for
// concurrent use.
type Table struct {
	// Source names the data and its revision, such as "models.dev f3fc6922".
	Source string `json:"source"`
	// Date is the day of that revision, as YYYY-MM-DD. Prices are shown with it.
	Date string `json:"date"`
	// Licence is the licence of the data with its copyright line.
	Licence string `json:"licence"`
	// Providers are the models by the name that models.dev gives the provider.
	Providers map[string][]Model `json:"providers"`
}

// Model is what is known about one model at one provider. Zero fields are unknown.
type Model struct {
	Name string `json:"n"`
	// Family is the name that successive versions share, such as "claude-sonnet".
	Family string `json:"f,omitempty"`
	// Released is the day of the release, as YYYY-MM-DD.
	Released string `json:"r,omitempty"`
	Context  int    `json:"c,omitempty"`
	Output   int    `json:"o,omitempty"`
	// Can holds abilities as letters: see the constants below. A letter in Cannot says
	// that the model lacks the ability; one in neither is unknown.
	Can    string `json:"y,omitempty"`
	Cannot string `json:"x,omitempty"`
	// Efforts are the reasoning levels that the model takes, weakest first.
	Efforts []string `json:"e,omitempty"`
	Price   *Price   `json:"p,omitempty"`
}

// The letters of Model.Can and Model.Cannot.
const (
	chats       = "a" // answers with text
	tools       = "t"
	images      = "i"
	thinking    = "r"
	schemas     = "s"
	temperature = "h"
)

// Price is what a million tokens cost, in millionths of a US dollar. Cached is for
// input that the provider had stored, CacheWrite for input that it stores now; both are
// nil where the table has no price of their own.
type Price struct {
	Input      int64  `json:"i"`
	Output     int64  `json:"o"`
	Cached     *int64 `json:"c,omitempty"`
	CacheWrite *int64 `json:"w,omitempty"`
	// Above is the price of a request with more input tokens than Above.Over; nil where
	// the price doesn't depend on the length.
	Above *Tier `json:"t,omitempty"`
}

// Tier is the price of a long request, in the units of Price.
type Tier struct {
	Over   int    `json:"n"` // input tokens
	Input  int64  `json:"i"`
	Output int64  `json:"o"`
	Cached *int64 `json:"c,omitempty"`

	CacheWrite *int64 `json:"w,omitempty"`
}

// has translates a letter into what is known.
func (m *Model) has(letter string) provider.Known {
	switch {
	case strings.Contains(m.Can, letter):
		return provider.Yes
	case strings.Contains(m.Cannot, letter):
		return provider.No
	}
	return provider.Unknown
}

// Described returns the facts in the form that providers describe models in.
func (m *Model) Described() provider.Model {
	released, _ := time.Parse(time.DateOnly, m.Released) // the zero time where it is unknown
	return provider.Model{
		Name: m.Name, ContextLength: m.Context, Chats: m.has(chats), Tools: m.has(tools),
		Images: m.has(images), Thinking: m.has(thinking), Schema: m.has(schemas), Efforts: m.levels(), Created: released,
	}
}

// levels are the reasoning levels of the model that fettle has names for.
func (m *Model) levels() provider.Levels {
	var out []provider.Effort
	for _, name := range m.Efforts {
		out = append(out, provider.Effort(name))
	}
	return provider.LevelsOf(out...)
}

// TakesTemperature reports whether the model takes a temperature.
func (m *Model) TakesTemperature() provider.Known { return m.has(temperature) }

// At returns the models that are known at a provider's address, a URL. It is nil for
// other addresses.
func (t *Table) At(address string) []Model { return t.Providers[providerAt(address)] }

// Find returns the facts of a model at a provider's address; nil where there are none.
// A name with the day of its release, such as gpt-5-2025-08-07, has the facts of the
// name without it.
func (t *Table) Find(address, name string) *Model {
	models := t.At(address)
	for _, n := range []string{name, Undated(name)} {
		if i := slices.IndexFunc(models, func(m Model) bool { return m.Name == n }); i >= 0 {
			return &models[i]
		}
	}
	return nil
}

// Undated returns a model's name without the day of its release.
func Undated(name string) string {
	for _, form := range []string{"-2006-01-02", "-20060102"} {
		if cut := len(name) - len(form); cut > 0 {
			if _, err := time.Parse(form, name[cut:]); err == nil {
				return name[:cut]
			}
		}
	}
	return name
}

// hosts returns the public addresses of the providers in the table, by provider.
func hosts() [][2]string {
	return [][2]string{
		{"alibaba", "dashscope-intl.aliyuncs.com"},
		{"anthropic", "api.anthropic.com"},
		{"deepseek", "api.deepseek.com"},
		{"google", "generativelanguage.googleapis.com"},
		{"groq", "api.groq.com"},
		{"mistral", "api.mistral.ai"},
		{"moonshotai", "api.moonshot.ai"},
		{"openai", "api.openai.com"},
		{"xai", "api.x.ai"},
		{"zai", "api.z.ai"},
	}
}

// providerAt names the provider whose public API an address is; "" for any other address.
func providerAt(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" {
		return ""
	}
	for _, h := range hosts() {
		if strings.EqualFold(u.Hostname(), h[1]) {
			return h[0]
		}
	}
	return ""
}

// Public reports whether an address is one whose models a table can have.
func Public(address string) bool { return providerAt(address) != "" }

// Providers are the names of the providers that a table has, sorted.
func Providers() []string {
	var names []string
	for _, h := range hosts() {
		names = append(names, h[0])
	}
	return names
}

//go:embed builtin.json.gz
var builtin []byte

// Builtin returns the table in the program.
func Builtin() *Table { return readBuiltin() }

var readBuiltin = sync.OnceValue(func() *Table {
	t, err := Read(bytes.NewReader(builtin))
	if err != nil {
		return &Table{} // a test reads the builtin table
	}
	return t
})

// maxTable bounds an unpacked table; the builtin one has some 40 KB.
const maxTable = 16 << 20

// Read reads a table that WriteTo has written.
func Read(r io.Reader) (*Table, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("unpack the table of models: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(z, maxTable+1))
	if err != nil {
		return nil, fmt.Errorf("unpack the table of models: %w", err)
	}
	if len(data) > maxTable {
		return nil, errors.New("the table of models is larger than 16 MB")
	}
	t := new(Table)
	if err := json.Unmarshal(data, t); err != nil {
		return nil, fmt.Errorf("read the table of models: %w", err)
	}
	return t, t.check()
}

// check refuses a table that the program could not have written.
func (t *Table) check() error {
	if _, err := time.Parse(time.DateOnly, t.Date); err != nil {
		return fmt.Errorf("the table of models has no date: %w", err)
	}
	if len(t.Providers) == 0 {
		return errors.New("the table of models is empty")
	}
	return nil
}

// WriteTo writes the table in the form that Read reads. Equal tables have equal bytes.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	data, err := json.Marshal(t)
	if err != nil {
		return 0, err
	}
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return 0, err
	}
	if _, err := z.Write(data); err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	return buf.WriteTo(w)
}

// Equal reports whether two entries say the same about a model.
func (m *Model) Equal(o *Model) bool {
	a, aErr := json.Marshal(m)
	b, bErr := json.Marshal(o)
	return aErr == nil && bErr == nil && bytes.Equal(a, b)
}

package server_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fettle-cli/fettle/engine/provider"
)

// line is one message of a conversation, whatever API it is sent over.
type line struct {
	role  string // system, user, assistant or tool
	parts []piece
}

// piece is a part of a line. An image is named by its content, a file by its name.
type piece struct {
	kind     string // text, image, file, thought, call or result
	text     string
	id, name string   // of a call, or of the call of a result; of a file the name
	images   []string // of a result
	failed   bool     // of a result: the call failed
}

// talking makes conversations by chance. Each text is used once, so that what is lost,
// doubled or moved is seen.
type talking struct {
	by *rand.Rand
	n  int
}

func (g *talking) word(kind string) string {
	g.n++
	return fmt.Sprintf("%s-%d", kind, g.n)
}

func (g *talking) often(percent int) bool { return g.by.IntN(100) < percent }

// picture is the content of an image as a client sends it.
func picture(name string) []byte { return []byte("\x89PNG\r\n\x1a\n" + name) }

func (g *talking) user() line {
	l := line{role: "user"}
	for range 1 + g.by.IntN(4) {
		switch {
		case g.often(40):
			l.parts = append(l.parts, piece{kind: "image", text: g.word("image")})
		case g.often(20):
			l.parts = append(l.parts, piece{kind: "file", name: g.word("file"), text: g.word("content")})
		case g.often(20):
			l.parts = append(l.parts, piece{kind: "text"})
		default:
			l.parts = append(l.parts, piece{kind: "text", text: g.word("asked")})
		}
	}
	l.parts = append(l.parts, piece{kind: "text", text: g.word("asked")})
	return l
}

// called are an answer with calls and the lines with their results.
func (g *talking) called() []line {
	l, results := line{role: "assistant"}, []line{}
	if g.often(40) {
		l.parts = append(l.parts, piece{kind: "thought", text: g.word("thought")})
	}
	if g.often(40) {
		l.parts = append(l.parts, piece{kind: "text", text: g.word("said")})
	}
	for range 1 + g.by.IntN(3) {
		id := g.word("call")
		name := []string{"look", "patch"}[g.by.IntN(2)]
		l.parts = append(l.parts, piece{kind: "call", id: id, name: name, text: g.word("input")})
		result := piece{kind: "result", id: id, name: name, text: g.word("result"), failed: g.often(20)}
		switch {
		case g.often(20):
			result.text = ""
		case g.often(25):
			result.images = []string{g.word("image")}
		}
		results = append(results, line{role: "tool", parts: []piece{result}})
	}
	if g.often(50) { // a client may send results in another order
		slices.Reverse(results)
	}
	return append([]line{l}, results...)
}

func (g *talking) said() line {
	l := line{role: "assistant"}
	if g.often(40) {
		l.parts = append(l.parts, piece{kind: "thought", text: g.word("thought")})
	}
	if g.often(10) {
		return l // an answer that was cut off has no text
	}
	l.parts = append(l.parts, piece{kind: "text", text: g.word("said")})
	return l
}

func (g *talking) system() line {
	return line{role: "system", parts: []piece{{kind: "text", text: g.word("instruction")}}}
}

// conversation makes a conversation that a model can answer.
func (g *talking) conversation() (all []line) {
	for range g.by.IntN(3) {
		all = append(all, g.system())
	}
	if g.often(5) {
		return append(all, g.system()) // instructions alone
	}
	for range g.by.IntN(3) {
		all = append(all, g.user())
		for range g.by.IntN(3) {
			all = append(all, g.called()...)
		}
		if g.often(15) {
			all = append(all, g.system())
		}
		all = append(all, g.said())
	}
	all = append(all, g.user())
	if g.often(40) {
		all = append(all, g.called()...)
	}
	switch {
	case g.often(10):
		all = append(all, g.system())
	case g.often(25):
		all = append(all, line{role: "assistant", parts: []piece{{kind: "text", text: g.word("begun")}}})
	}
	return all
}

// begins reports whether a conversation ends with the beginning of the answer.
func begins(all []line) bool { return all[len(all)-1].role == "assistant" }

// reading notes down what a conversation says, in order: one token for each piece that is not
// empty. Texts of one role that follow each other are one token, since some APIs join them. The
// images of results follow all results of a step, since some APIs have them apart.
type reading struct {
	tokens   []string
	pictures []string          // of results, until the step ends
	inputs   map[string]string // of calls, by their ids
}

func (r *reading) text(role, text string) {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return
	}
	r.end()
	if n := len(r.tokens) - 1; n >= 0 && strings.HasPrefix(r.tokens[n], role+": ") {
		r.tokens[n] += " " + text
		return
	}
	r.tokens = append(r.tokens, role+": "+text)
}

func (r *reading) image(role string, data []byte) {
	r.end()
	r.tokens = append(r.tokens, role+" image: "+strings.TrimPrefix(string(data), string(picture(""))))
}

func (r *reading) thought(text string) {
	if text != "" {
		r.end()
		r.tokens = append(r.tokens, "thought: "+text)
	}
}

func (r *reading) call(id, name, args string) {
	if r.inputs == nil {
		r.inputs = map[string]string{}
	}
	r.end()
	r.inputs[id] = strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(args, " ", ""), `{"input":"`), `"}`)
	r.tokens = append(r.tokens, "call: "+strings.TrimPrefix(name, "client:")+" "+r.inputs[id])
}

func (r *reading) file(name, text string) {
	r.text("user", fmt.Sprintf("<file name=%q> %s </file>", name, text))
}

func (r *reading) result(id, text string, failed bool) {
	kind := "result: "
	if failed {
		kind = "failed result: "
	}
	r.tokens = append(r.tokens, strings.TrimSpace(kind+r.inputs[id]+" "+strings.Join(strings.Fields(text), " ")))
}

func (r *reading) resultImage(data []byte) {
	r.pictures = append(r.pictures, "result image: "+strings.TrimPrefix(string(data), string(picture(""))))
}

// end ends the results of a step.
func (r *reading) end() { r.tokens, r.pictures = append(r.tokens, r.pictures...), nil }

// read returns the tokens without those of some kinds.
func (r *reading) read(without ...string) []string {
	r.end()
	return slices.DeleteFunc(slices.Clone(r.tokens), func(s string) bool {
		kind, _, _ := strings.Cut(s, ":")
		return slices.Contains(without, kind)
	})
}

// recent leaves out the reasoning of answers to earlier questions: it is sent back only with
// the details that its provider has signed.
func recent(tokens []string) (out []string) {
	last := 0
	for i, each := range tokens {
		if strings.HasPrefix(each, "user") {
			last = i
		}
	}
	for i, each := range tokens {
		if i > last || !strings.HasPrefix(each, "thought: ") {
			out = append(out, each)
		}
	}
	return out
}

// imagesLast has the images of a user's message follow its texts, as in Ollama's API.
func imagesLast(all []line) (out []line) {
	for _, l := range all {
		l.parts = slices.Clone(l.parts)
		slices.SortStableFunc(l.parts, func(a, b piece) int {
			return strings.Compare(map[bool]string{true: "1"}[a.kind == "image"], map[bool]string{true: "1"}[b.kind == "image"])
		})
		out = append(out, l)
	}
	return out
}

// withoutFiles returns a conversation without the files of the user, where a dialect has none.
func withoutFiles(all []line) (out []line) {
	for _, l := range all {
		l.parts = slices.DeleteFunc(slices.Clone(l.parts), func(p piece) bool { return p.kind == "file" })
		out = append(out, l)
	}
	return out
}

// withoutFailures returns a conversation in which no call is marked as failed: only
// Anthropic's API has such a mark.
func withoutFailures(all []line) (out []line) {
	for _, l := range all {
		l.parts = slices.Clone(l.parts)
		for i := range l.parts {
			l.parts[i].failed = false
		}
		out = append(out, l)
	}
	return out
}

// unordered has the images of the user follow the texts around them, as in Ollama's API.
func unordered(tokens []string) []string {
	r := &reading{}
	var images []string
	for _, each := range append(tokens, "") {
		text, isText := strings.CutPrefix(each, "user: ")
		switch {
		case isText:
			r.text("user", text)
			continue
		case strings.HasPrefix(each, "user image: "):
			images = append(images, each)
			continue
		}
		r.tokens, images = append(append(r.tokens, images...), each), nil
	}
	return r.tokens[:len(r.tokens)-1]
}

// expected is what the server has to send of a conversation: leading instructions as the
// system prompt, and later ones marked within the message before them. An answer without text
// and calls is left out.
func expected(all []line) *reading {
	r, said, lead := &reading{}, all, 0
	if begins(all) {
		said = all[:len(all)-1]
	}
	for lead < len(said)-1 && said[lead].role == "system" {
		lead++
	}
	for i, l := range all {
		for _, p := range l.parts { // files are before all else that the user sent with them
			if p.kind == "file" {
				r.file(p.name, p.text)
			}
		}
		spoken := slices.ContainsFunc(l.parts, func(p piece) bool { return p.kind != "thought" })
		for _, p := range l.parts {
			marked := "<system> " + p.text + " </system>"
			switch {
			case l.role == "system" && i < lead:
				r.text("system", p.text)
			case l.role == "system" && len(said)-lead == 1:
				r.text("user", p.text)
			case l.role == "system" && all[i-1].role == "tool":
				r.tokens[len(r.tokens)-1] += " " + marked
			case l.role == "system":
				r.text("user", marked)
			case p.kind == "text":
				r.text(l.role, p.text)
			case p.kind == "image":
				r.image(l.role, picture(p.text))
			case p.kind == "thought" && spoken:
				r.thought(p.text)
			case p.kind == "call":
				r.call(p.id, p.name, p.text)
			case p.kind == "result":
				r.result(p.id, p.text, p.failed)
				for _, image := range p.images {
					r.resultImage(picture(image))
				}
			}
		}
	}
	return r
}

// captured is a request as the engine has it.
func captured(req provider.Request) *reading {
	r := &reading{}
	r.text("system", req.System)
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			switch p.Kind {
			case provider.TextPart:
				r.text(string(m.Role), p.Text)
			case provider.ImagePart:
				r.image(string(m.Role), p.Data)
			case provider.ReasoningPart:
				r.thought(p.Text)
			case provider.ToolCallPart:
				r.call(p.Call.ID, p.Call.Name, string(p.Call.Args))
			case provider.ToolResultPart:
				r.result(p.Result.ID, p.Result.Text, p.Result.Error)
				for _, image := range p.Result.Media {
					r.resultImage(image.Data)
				}
			}
		}
	}
	return r
}

// spelledIn is a conversation as the body of a request in a dialect.
func spelledIn(n, model string, all []line) (path string, body doc) {
	path, body = question(n, model)
	body["stream"] = false
	names := doc{"name": "patch", "description": "patches"}
	schema := doc{"type": "object", "properties": doc{"input": doc{"type": "string"}}, "required": []string{"input"}}
	look := doc{"name": "look", "description": "looks"}
	switch n {
	case chatAPI:
		look["parameters"] = schema
		body["tools"] = []doc{{"type": "function", "function": look}, {"type": "custom", "custom": names}}
		body["messages"] = chatLines(all)
	case responsesAPI:
		body["tools"] = []doc{{"type": "function", "name": "look", "description": "looks", "parameters": schema}, {"type": "custom", "name": "patch", "description": "patches"}}
		body["input"] = responseLines(all)
	case messagesAPI:
		look["input_schema"], names["input_schema"] = schema, schema
		body["tools"] = []doc{look, names}
		delete(body, "tool_choice")
		body["messages"] = messageLines(all)
	default:
		look["parameters"], names["parameters"] = schema, schema
		body["tools"] = []doc{{"type": "function", "function": look}, {"type": "function", "function": names}}
		body["messages"] = ollamaLines(all)
	}
	return path, body
}

// textData is the address of a text file that contains itself.
func textData(text string) string {
	return "data:text/plain;base64," + base64.StdEncoding.EncodeToString([]byte(text))
}

func dataOf(image string) string { return base64.StdEncoding.EncodeToString(picture(image)) }

func chatLines(all []line) (out []doc) {
	address := func(image string) doc {
		return doc{"type": "image_url", "image_url": doc{"url": "data:image/png;base64," + dataOf(image)}}
	}
	for _, l := range all {
		m := doc{"role": l.role}
		var parts, calls []doc
		for _, p := range l.parts {
			switch p.kind {
			case "text":
				parts = append(parts, doc{"type": "text", "text": p.text})
			case "image":
				parts = append(parts, address(p.text))
			case "file":
				parts = append(parts, doc{"type": "file", "file": doc{"filename": p.name, "file_data": textData(p.text)}})
			case "thought":
				m["reasoning_content"] = p.text
			case "call":
				if p.name == "patch" {
					calls = append(calls, doc{"id": p.id, "type": "custom", "custom": doc{"name": p.name, "input": p.text}})
				} else {
					calls = append(calls, doc{"id": p.id, "type": "function", "function": doc{"name": p.name, "arguments": `{"input":"` + p.text + `"}`}})
				}
			case "result":
				m["tool_call_id"], parts = p.id, []doc{{"type": "text", "text": p.text}}
				for _, image := range p.images {
					parts = append(parts, address(image))
				}
			}
		}
		if m["content"] = parts; len(calls) > 0 {
			m["tool_calls"] = calls
		}
		out = append(out, m)
	}
	return out
}

func responseLines(all []line) (out []doc) {
	address := func(image string) doc {
		return doc{"type": "input_image", "image_url": "data:image/png;base64," + dataOf(image)}
	}
	for _, l := range all {
		var parts []doc
		for _, p := range l.parts {
			text := doc{"type": map[bool]string{true: "output_text", false: "input_text"}[l.role == "assistant"], "text": p.text}
			custom := map[bool]string{true: "custom_tool_call", false: "function_call"}[p.name == "patch"]
			switch p.kind {
			case "text":
				parts = append(parts, text)
			case "image":
				parts = append(parts, address(p.text))
			case "file":
				parts = append(parts, doc{"type": "input_file", "filename": p.name, "file_data": textData(p.text)})
			case "thought":
				out = append(out, doc{"type": "reasoning", "id": "rs_1", "summary": []doc{{"type": "summary_text", "text": p.text}}})
			case "call":
				if len(parts) > 0 {
					out, parts = append(out, doc{"type": "message", "role": l.role, "content": parts}), nil
				}
				out = append(out, doc{"type": custom, "call_id": p.id, "name": p.name, "arguments": `{"input":"` + p.text + `"}`, "input": p.text})
			case "result":
				output := []doc{text}
				for _, image := range p.images {
					output = append(output, address(image))
				}
				out = append(out, doc{"type": custom + "_output", "call_id": p.id, "output": output})
			}
		}
		if len(parts) > 0 {
			out = append(out, doc{"type": "message", "role": l.role, "content": parts})
		}
	}
	return out
}

func messageLines(all []line) (out []doc) {
	address := func(image string) doc {
		return doc{"type": "image", "source": doc{"type": "base64", "media_type": "image/png", "data": dataOf(image)}}
	}
	for _, l := range all {
		var parts []doc
		for _, p := range l.parts {
			switch p.kind {
			case "text":
				parts = append(parts, doc{"type": "text", "text": p.text})
			case "image":
				parts = append(parts, address(p.text))
			case "file":
				source := doc{"type": "text", "media_type": "text/plain", "data": p.text}
				parts = append(parts, doc{"type": "document", "title": p.name, "source": source})
			case "thought":
				parts = append(parts, doc{"type": "thinking", "thinking": p.text, "signature": "c2ln"})
			case "call":
				parts = append(parts, doc{"type": "tool_use", "id": p.id, "name": p.name, "input": doc{"input": p.text}})
			case "result":
				content := []doc{{"type": "text", "text": p.text}}
				for _, image := range p.images {
					content = append(content, address(image))
				}
				parts = append(parts, doc{"type": "tool_result", "tool_use_id": p.id, "content": content, "is_error": p.failed})
			}
		}
		role := l.role
		if role == "tool" {
			role = "user"
		}
		out = append(out, doc{"role": role, "content": parts})
	}
	return out
}

func ollamaLines(all []line) (out []doc) {
	for _, l := range all {
		m := doc{"role": l.role}
		var texts, images []string
		var calls []doc
		for _, p := range l.parts {
			switch p.kind {
			case "text":
				texts = append(texts, p.text)
			case "image":
				images = append(images, dataOf(p.text))
			case "thought":
				m["thinking"] = p.text
			case "call":
				calls = append(calls, doc{"id": p.id, "function": doc{"name": p.name, "arguments": doc{"input": p.text}}})
			case "result":
				m["tool_name"], m["tool_call_id"], texts = p.name, p.id, []string{p.text}
				for _, image := range p.images {
					images = append(images, dataOf(image))
				}
			}
		}
		if m["content"] = strings.Join(texts, "\n"); len(images) > 0 {
			m["images"] = images
		}
		if len(calls) > 0 {
			m["tool_calls"] = calls
		}
		out = append(out, m)
	}
	return out
}

// texts are the texts of an object's members, for reading bodies.
func texts(v any, names ...string) []string {
	m, _ := v.(map[string]any)
	var out []string
	for _, n := range names {
		text, _ := m[n].(string)
		out = append(out, text)
	}
	return out
}

func list(v any) []any {
	all, _ := v.([]any)
	return all
}

// embedded is the content of an image in an address or in base64.
func embedded(t *testing.T, address string) []byte {
	t.Helper()
	if _, data, ok := strings.Cut(address, ";base64,"); ok {
		address = data
	}
	raw, err := base64.StdEncoding.DecodeString(address)
	must(t, err)
	return raw
}

// sentTo reads back the body that an API was sent.
func sentTo(t *testing.T, api string, body any) *reading {
	t.Helper()
	r, m := &reading{}, body.(map[string]any)
	switch api {
	case responsesAPI:
		r.text("system", texts(m, "instructions")[0])
		for _, it := range list(m["input"]) {
			r.item(t, it)
		}
	case messagesAPI:
		for _, block := range list(m["system"]) {
			r.text("system", texts(block, "text")[0])
		}
		for _, each := range list(m["messages"]) {
			for _, block := range list(each.(map[string]any)["content"]) {
				r.block(t, texts(each, "role")[0], block)
			}
		}
	default:
		for _, each := range list(m["messages"]) {
			r.message(t, each.(map[string]any))
		}
	}
	return r
}

// item reads an item of the Responses API.
func (r *reading) item(t *testing.T, it any) {
	m := it.(map[string]any)
	id, name, args := texts(m, "call_id")[0], texts(m, "name")[0], texts(m, "arguments")[0]
	switch texts(m, "type")[0] {
	case "function_call":
		r.call(id, name, args)
	case "function_call_output":
		if text, ok := m["output"].(string); ok {
			r.result(id, text, false)
			return
		}
		var all []string
		for _, part := range list(m["output"]) {
			all = append(all, texts(part, "text")[0])
		}
		r.result(id, strings.Join(all, " "), false)
		for _, part := range list(m["output"]) {
			if image := texts(part, "image_url")[0]; image != "" {
				r.resultImage(embedded(t, image))
			}
		}
	default:
		for _, part := range list(m["content"]) {
			if image := texts(part, "image_url")[0]; image != "" {
				r.image("user", embedded(t, image))
			} else {
				r.text(texts(m, "role")[0], texts(part, "text")[0])
			}
		}
	}
}

// block reads a block of Anthropic's messages.
func (r *reading) block(t *testing.T, role string, block any) {
	m := block.(map[string]any)
	switch texts(m, "type")[0] {
	case "text":
		r.text(role, texts(m, "text")[0])
	case "thinking":
		r.thought(texts(m, "thinking")[0])
	case "image":
		r.image(role, embedded(t, texts(m["source"], "data")[0]))
	case "tool_use":
		r.call(texts(m, "id")[0], texts(m, "name")[0], jsonText(t, m["input"]))
	case "tool_result":
		text, _ := m["content"].(string)
		for _, part := range list(m["content"]) {
			text += texts(part, "text")[0]
		}
		r.result(texts(m, "tool_use_id")[0], text, m["is_error"] == true)
		for _, part := range list(m["content"]) {
			if texts(part, "type")[0] == "image" {
				r.resultImage(embedded(t, texts(part.(map[string]any)["source"], "data")[0]))
			}
		}
	}
}

// message reads a message of chat completions, of Mistral's and of Ollama's API.
func (r *reading) message(t *testing.T, m map[string]any) {
	role := texts(m, "role")[0]
	r.thought(texts(m, "thinking")[0])
	text, _ := m["content"].(string)
	parts := list(m["content"])
	var images [][]byte
	for _, image := range list(m["images"]) {
		images = append(images, embedded(t, image.(string)))
	}
	if role == "tool" {
		for _, part := range parts {
			text += texts(part, "text")[0]
			if address := addressOf(part); address != "" {
				images = append(images, embedded(t, address))
			}
		}
		r.result(texts(m, "tool_call_id")[0], text, false)
		for _, image := range images {
			r.resultImage(image)
		}
		return
	}
	if text != "(The answer was stopped here.)" { // Mistral requires an answer to results
		r.text(role, text)
	}
	ofResult := false // images of results are a user's message, each after a line about it
	for _, part := range parts {
		said, address := texts(part, "text")[0], addressOf(part)
		ofResult = ofResult || strings.Contains(said, " returned for the call ")
		switch {
		case ofResult && address != "":
			r.resultImage(embedded(t, address))
		case ofResult:
		case address != "":
			r.image(role, embedded(t, address))
		default:
			r.text(role, said)
		}
	}
	for _, image := range images {
		r.image(role, image)
	}
	for _, c := range list(m["tool_calls"]) {
		fn := c.(map[string]any)["function"]
		args, ok := fn.(map[string]any)["arguments"].(string)
		if !ok {
			args = jsonText(t, fn.(map[string]any)["arguments"])
		}
		r.call(texts(c, "id")[0], texts(fn, "name")[0], args)
	}
}

// addressOf is the address of a part that is an image.
func addressOf(part any) string {
	image := part.(map[string]any)["image_url"]
	if address, ok := image.(string); ok {
		return address
	}
	return texts(image, "url")[0]
}

// Every message of a client reaches the provider with all of its pieces, in their order, through
// each dialect, to each API; what an API has no place for is what the package comment of
// server/dialect lists. The tools reach it too.
func TestEveryMessageReachesTheProvider(t *testing.T) {
	t.Parallel()
	u, c := newUpstream(t), &capture{}
	h := open(t, plan{providers: u.peers(c)})
	for seed := range uint64(24) {
		g := &talking{by: rand.New(rand.NewPCG(seed, 3))}
		all := g.conversation()
		for _, n := range []string{chatAPI, responsesAPI, messagesAPI, ollamaAPI} {
			conv := all
			if n == ollamaAPI {
				conv = imagesLast(withoutFiles(all))
			}
			if n != messagesAPI {
				conv = withoutFailures(conv)
			}
			path, body := spelledIn(n, "capture/m", conv)
			got := h.call("POST", path, body)
			got.what = fmt.Sprintf("%s of seed %d to the engine", n, seed)
			got.is(200, nil)
			sameTokens(t, got.what, captured(c.last()).read(), recent(expected(conv).read()))
			for api, models := range peerModels() {
				h.messagesReach(t, u, sample{dialect: n, api: api, model: models[0]}, conv, seed)
			}
		}
	}
}

func sameTokens(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n  %s\nwas sent, want\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// messagesReach checks the messages that a provider's address gets.
func (h *house) messagesReach(t *testing.T, u *upstream, s sample, conv []line, seed uint64) {
	t.Helper()
	path, body := spelledIn(s.dialect, s.model, conv)
	got := h.call("POST", path, body)
	got.what = fmt.Sprintf("%s of seed %d to %s", s.dialect, seed, s.model)
	header := got.header.Get("X-Fettle-Ignored")
	restarts := begins(conv) && s.api == responsesAPI
	if restarts && (s.dialect == messagesAPI || s.dialect == ollamaAPI) {
		got.is(400, nil)
		return
	}
	got.is(200, nil)
	if header != map[bool]string{true: "prefill"}[restarts] {
		t.Errorf("%s: the header is %q", got.what, header)
	}
	if s.api == ollamaAPI {
		conv = imagesLast(conv)
	}
	if s.api != messagesAPI {
		conv = withoutFailures(conv)
	}
	sent := u.sent(t)
	want := expected(conv)
	switch {
	case s.api == messagesAPI && s.dialect == messagesAPI: // signed by the provider
		sameTokens(t, got.what, sentTo(t, s.api, sent).read(), want.read())
	case s.api == ollamaAPI:
		sameTokens(t, got.what, unordered(sentTo(t, s.api, sent).read()), unordered(recent(want.read())))
	default:
		sameTokens(t, got.what, sentTo(t, s.api, sent).read(), want.read("thought"))
	}
	for _, tool := range []string{`"look"`, `"patch"`, "looks", "patches"} {
		if !strings.Contains(jsonText(t, found(sent, "tools")), tool) {
			t.Errorf("%s: the tool %s is missing from %s", got.what, tool, jsonText(t, found(sent, "tools")))
		}
	}
}

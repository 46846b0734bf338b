package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// bom is a byte order mark in UTF-8.
var bom = []byte("\ufeff")

// decodable returns the messages of a text that the SDK can decode, each as one line
// without its end, and notes on what it cannot. The SDK closes a connection at the first
// text that is not a message, and fails a whole result for one part of it. A batch becomes
// single messages, since revisions from 2025-06-18 on have none.
func decodable(text []byte) (messages [][]byte, notes []string) {
	text = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(text), bom))
	batch := []json.RawMessage{text}
	if len(text) > 0 && text[0] == '[' && json.Unmarshal(text, &batch) != nil {
		return nil, []string{string(text[:min(len(text), maxLogLine)])}
	}
	for _, each := range batch {
		m, err := jsonrpc.DecodeMessage(each)
		if err != nil {
			if len(each) > 0 {
				notes = append(notes, string(each[:min(len(each), maxLogLine)]))
			}
			continue
		}
		if r, ok := m.(*jsonrpc.Response); ok && r.Error == nil {
			result, left := decodableResult(r.Result)
			if len(left) > 0 {
				notes = append(notes, left...)
				r.Result = result
				if each, err = jsonrpc.EncodeMessage(r); err != nil { // it is made of what was decoded
					continue
				}
			}
		}
		messages = append(messages, oneLine(each))
	}
	return messages, notes
}

// oneLine takes the line ends out of a JSON text.
func oneLine(text []byte) []byte {
	if !bytes.ContainsAny(text, "\r\n") {
		return text
	}
	var out bytes.Buffer
	if json.Compact(&out, text) != nil { // it was decoded before
		return text
	}
	return out.Bytes()
}

// list is a list within a result.
type list struct {
	key string
	// decode reports why the SDK cannot decode an element.
	decode func(json.RawMessage) error
	// replace returns the element that holds a note; nil leaves the element out.
	replace func(note string) any
}

// lists are the lists of all results.
var lists = []list{
	{"content", decodeContent, func(note string) any { return textPart(note) }},
	{"contents", decodeAs[sdk.ResourceContents], func(note string) any { return map[string]any{"uri": "", "text": note} }},
	{"messages", decodeAs[sdk.PromptMessage], func(note string) any { return map[string]any{"role": "user", "content": textPart(note)} }},
	{"tools", decodeAs[sdk.Tool], nil},
	{"resources", decodeAs[sdk.Resource], nil},
	{"resourceTemplates", decodeAs[sdk.ResourceTemplate], nil},
	{"prompts", decodeAs[sdk.Prompt], nil},
}

func textPart(text string) map[string]any { return map[string]any{"type": "text", "text": text} }

func decodeAs[T any](raw json.RawMessage) error {
	var v *T
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	if v == nil {
		return fmt.Errorf("it is null")
	}
	return nil
}

// decodeContent decodes a part of a tool's result, with the checks of the SDK, which
// accepts parts without the field that they are about.
func decodeContent(raw json.RawMessage) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	var kind string
	if err := json.Unmarshal(fields["type"], &kind); err != nil {
		return fmt.Errorf("it has no type")
	}
	needed := map[string]string{"text": "text", "image": "data", "audio": "data", "resource_link": "uri", "resource": "resource"}[kind]
	switch value := string(fields[needed]); {
	case needed == "":
		return fmt.Errorf("its type %s is not known", plain(kind, maxTitle))
	case value == "" || value == "null":
		return fmt.Errorf("its type is %s, and the field %s is missing", kind, needed)
	}
	var res sdk.CallToolResult
	return json.Unmarshal(marshal(map[string]any{"content": []json.RawMessage{raw}}), &res)
}

// decodableResult returns a result in which notes take the place of what the SDK cannot
// decode. Without notes the result is returned as it is.
func decodableResult(raw json.RawMessage) (json.RawMessage, []string) {
	var result map[string]json.RawMessage
	if json.Unmarshal(raw, &result) != nil {
		return raw, nil
	}
	var notes []string
	for _, l := range lists {
		if value, ok := result[l.key]; ok && string(value) != "null" {
			fresh, left := l.check(value)
			if len(left) > 0 {
				notes = append(notes, left...)
				result[l.key] = fresh
			}
		}
	}
	if len(notes) == 0 {
		return raw, nil
	}
	return marshal(result), notes
}

// check returns a list in which notes take the place of what cannot be decoded. One
// element without the list around it becomes a list.
func (l list) check(value json.RawMessage) (fresh json.RawMessage, notes []string) {
	var elements []json.RawMessage
	if json.Unmarshal(value, &elements) != nil {
		elements = []json.RawMessage{value}
		notes = append(notes, fmt.Sprintf("%s is not a list", l.key))
	}
	out := make([]any, 0, len(elements))
	for i, e := range elements {
		err := l.decode(e)
		if err == nil {
			out = append(out, e)
			continue
		}
		note := fmt.Sprintf("part %d of %s cannot be read: %s", i+1, l.key, plain(err.Error(), maxTitle))
		notes = append(notes, note)
		if l.replace != nil {
			out = append(out, l.replace("["+note+"]"))
		}
	}
	return marshal(out), notes
}

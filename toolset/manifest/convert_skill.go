package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/fettle-cli/fettle/internal/sanitize"
)

// maxSkill bounds a SKILL.md: its prompt's bound, and room for the rest.
const maxSkill = maxPrompt*4 + 64<<10

// FromSkill makes a toolset of an Agent Skill: one with one agent, whose
// purpose is the skill's description and whose prompt its instructions. folder
// is the name of the skill's folder, or empty; files are the paths beside the
// SKILL.md, which lie in [ConvertedFolder].
func FromSkill(folder string, raw []byte, files []string) (*Converted, error) {
	const file = "SKILL.md"
	if len(raw) > maxSkill {
		return nil, fmt.Errorf("convert %s: it has %d bytes", file, len(raw))
	}
	c := &converter{}
	head, body, err := c.frontMatter(raw)
	if err != nil {
		return nil, fmt.Errorf("convert %s: %w", file, err)
	}
	name, description := head["name"], head["description"]
	switch {
	case name == "" && folder == "":
		return nil, fmt.Errorf("convert %s: the field name is missing", file)
	case description == "":
		return nil, fmt.Errorf("convert %s: the field description is missing", file)
	case strings.TrimSpace(body) == "":
		return nil, fmt.Errorf("convert %s: it has no instructions", file)
	case name == "":
		c.note("it has no name; its folder's is taken")
		name = folder
	case folder != "" && folder != name:
		c.note("its name is %s, its folder's %s", show(name), show(folder))
	}
	c.m.ID = slug(name, "skill")
	if c.m.ID != name {
		c.note("its name %s is read as %s", show(name), c.m.ID)
	}
	c.m.Name = oneLine(name, maxName)
	c.m.Version = c.version(head["metadata.version"])
	c.m.Description = c.bounded(description, "the description", maxDescription)
	prompt := strings.TrimSpace(body)
	if len(files) > 0 {
		prompt += fmt.Sprintf("\n\nThe files that these instructions name lie in the toolset's folder, below %s/.", ConvertedFolder)
		c.note("its %d files are kept in %s/; they are data, nothing of them is run", len(files), ConvertedFolder)
	}
	c.m.Agents = []Agent{{
		ID: c.m.ID, Name: c.m.Name, Purpose: c.m.Description, Prompt: c.bounded(prompt, "the instructions", maxPrompt),
	}}
	c.skillNotes(head)
	c.skillMarks(body)
	return c.finish(file)
}

func (c *converter) skillNotes(head map[string]string) {
	if tools := head["allowed-tools"]; tools != "" {
		c.note("it would allow itself these tools, which is for you to do: %s", show(tools))
	}
	for _, name := range []string{"license", "compatibility", "metadata.author"} {
		if v := head[name]; v != "" {
			c.note("%s: %s", strings.TrimPrefix(name, "metadata."), oneLine(v, 5*maxName))
		}
	}
}

// frontMatter splits a SKILL.md and gives the texts of its head; those of
// metadata have that before their names.
func (c *converter) frontMatter(raw []byte) (head map[string]string, body string, err error) {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, "", errors.New("it doesn't begin with --- and its name and description")
	}
	front, body, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		front, ok = strings.CutSuffix(rest, "\n---")
	}
	if !ok {
		return nil, "", errors.New("no second --- ends its name and description")
	}
	top, trouble := load([]byte(front))
	if trouble != nil { // what others read leniently: colons without quotes
		var again *yaml.Node
		if again, _ = load([]byte(quoteColons(front))); again == nil {
			return nil, "", fmt.Errorf("line %d: %s", trouble.Line+1, sanitize.Mask(trouble.Message))
		}
		c.note("values with colons were read as if they stood in quotes")
		top = again
	}
	r := &reader{root: top, bad: map[*yaml.Node]bool{}}
	if !r.strict(top, "") || top.Kind != yaml.MappingNode {
		return nil, "", errors.New("expected fields and values between the lines of ---")
	}
	if len(r.sink.problems) > 0 {
		first := r.sink.problems[0]
		return nil, "", fmt.Errorf("line %d: %s", first.Line+1, first.Message)
	}
	head = map[string]string{}
	collect(head, "", top)
	c.skillFields(top)
	return head, body, nil
}

// skillMeanings explains for the fields of a skill's head what leaving them out means;
// it is empty for those that the conversion reads.
func skillMeanings() map[string]string {
	return map[string]string{
		"name": "", "description": "", "license": "", "compatibility": "", "allowed-tools": "", "metadata": "",
		"hooks":                    "its hooks are not run",
		"model":                    "the agent uses the model of the chat",
		"effort":                   "the agent uses the settings of the chat",
		"context":                  "the agent answers in the chat itself",
		"agent":                    "the agent has its own instructions only",
		"disable-model-invocation": "other agents may hand the chat over to it where they name it",
		"user-invocable":           "the agent can be chosen like any other",
		"argument-hint":            "an agent takes no arguments",
		"arguments":                "an agent takes no arguments",
		"disallowed-tools":         "the agent gets the tools that you allow",
		"mcp-servers":              "its servers are not added",
		"paths":                    "the agent is not bound to files",
		"shell":                    "no commands in the instructions are run",
	}
}

// skillFields notes each field of a skill's head that the toolset does not have.
func (c *converter) skillFields(top *yaml.Node) {
	known := skillMeanings()
	for i := 0; i+1 < len(top.Content); i += 2 {
		name, value := top.Content[i].Value, top.Content[i+1]
		why, ok := known[name]
		switch {
		case name == "metadata" && value.Kind == yaml.MappingNode:
			for j := 0; j+1 < len(value.Content); j += 2 {
				if key := value.Content[j].Value; key != "version" && key != "author" {
					c.note("metadata.%s was left out", oneLine(key, maxName))
				}
			}
		case ok && why == "", value.Kind == yaml.ScalarNode && value.ShortTag() == tagNull:
		case ok:
			c.note("the field %s was left out: %s", name, why)
		default:
			c.note("the field %s is not known, and was left out", oneLine(name, maxName))
		}
	}
}

// skillMarks notes what the instructions contain that only Claude replaces.
func (c *converter) skillMarks(body string) {
	for _, mark := range []struct{ text, why string }{
		{"!`", "commands in the instructions (!`…`) are not run, and stay there as text"},
		{"$ARGUMENTS", "$ARGUMENTS in the instructions stays as text: an agent takes no arguments"},
		{"${CLAUDE_", "variables such as ${CLAUDE_SKILL_DIR} in the instructions stay as text"},
	} {
		if strings.Contains(body, mark.text) {
			c.note("%s", mark.why)
		}
	}
}

func collect(head map[string]string, prefix string, n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := prefix+n.Content[i].Value, n.Content[i+1]
		switch {
		case value.Kind == yaml.ScalarNode && value.ShortTag() != tagNull:
			head[name] = value.Value
		case value.Kind == yaml.MappingNode && prefix == "":
			collect(head, name+".", value)
		case value.Kind == yaml.SequenceNode:
			var words []string
			for _, e := range value.Content {
				words = append(words, e.Value)
			}
			head[name] = strings.Join(words, " ")
		}
	}
}

// quoteColons puts values that hold a colon and a space into quotes.
func quoteColons(front string) string {
	lines := strings.Split(front, "\n")
	for i, l := range lines {
		name, value, ok := strings.Cut(l, ": ")
		value = strings.TrimSpace(value)
		if ok && strings.Contains(value, ": ") && !strings.ContainsAny(value[:1], `"'[{|>`) {
			lines[i] = name + `: "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
		}
	}
	return strings.Join(lines, "\n")
}

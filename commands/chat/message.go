package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fettle-cli/fettle/commands/cmdline"
	"github.com/fettle-cli/fettle/commands/input"
	"github.com/fettle-cli/fettle/commands/question"
	"github.com/fettle-cli/fettle/commands/transcript"
	"github.com/fettle-cli/fettle/engine"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/engine/store"
)

// question asks what was entered, with what it names.
func (t *talk) question(ctx context.Context, text string) error {
	parts, err := t.named(ctx, text)
	if err != nil {
		return err
	}
	t.asked = text
	parts = append(parts, provider.Part{Kind: provider.TextPart, Text: text})
	return t.runTurn(ctx, running{parts: parts, title: text})
}

// shell runs a command of the person's own in the chat's folder. The policy
// decides as it does for the model: what is denied stays so, and what isn't
// allowed is asked about.
func (t *talk) shell(ctx context.Context, command string) error {
	args, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		return err
	}
	return t.runTurn(ctx, running{calls: []engine.DirectCall{{Tool: "run_command", Args: args}}, title: "!" + command})
}

// folder is where the chat's files are: its own folder, or where the program was
// started before it has one.
func (t *talk) folder() string {
	switch chat := t.now(); {
	case chat.ID != "":
		return t.eng.WorkspacePath(chat)
	case t.ask.Workspace != "":
		return t.ask.Workspace
	}
	wd, err := os.Getwd()
	if err != nil {
		return "."
	}
	return wd
}

// maxMentions bounds what one message names.
const maxMentions = 32

// named are the files, images and chats that a message names: @PATH, @chat:N,
// and the path of an image by itself, as dropping one on a terminal types it.
func (t *talk) named(ctx context.Context, text string) ([]provider.Part, error) {
	var files []string
	var parts []provider.Part
	for _, word := range question.MentionWords(text) {
		if len(files)+len(parts) >= maxMentions {
			break
		}
		if n, ok := strings.CutPrefix(word, "@chat:"); ok {
			part, err := t.chatPart(ctx, n)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
			continue
		}
		name, marked := strings.CutPrefix(word, "@")
		if name = t.existing(name); name != "" && (marked || isImageName(name)) {
			files = append(files, name)
		}
	}
	if len(files)+len(parts) < maxMentions {
		read, err := question.AttachResources(ctx, t.eng, text, t.cfg.Limits.FileBytes)
		if err != nil {
			return nil, err
		}
		parts = append(parts, read...)
	}
	if len(files) == 0 {
		return parts, nil
	}
	attached, err := input.Files(ctx, files, input.Options{Notice: t.in.Notice, FileBytes: t.cfg.Limits.FileBytes})
	if err != nil {
		return nil, err
	}
	var images []provider.Part
	for _, p := range attached {
		if p.Kind == provider.ImagePart {
			images = append(images, p)
		} else {
			parts = append(parts, p)
		}
	}
	t.say("sent along: " + strings.Join(files, ", "))
	return append(parts, images...), nil
}

// existing is the file that a word names: in the chat's folder, or from where
// the program was started. "" is none.
func (t *talk) existing(name string) string {
	if name == "" || strings.HasPrefix(name, "-") {
		return ""
	}
	if filepath.IsAbs(name) {
		return ifThere(name)
	}
	if path := ifThere(filepath.Join(t.folder(), name)); path != "" {
		return path
	}
	return ifThere(name)
}

func ifThere(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return ""
	}
	return path
}

func isImageName(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return filepath.IsAbs(name)
	}
	return false
}

// chatPart is another chat, as a text for the model to read.
func (t *talk) chatPart(ctx context.Context, number string) (provider.Part, error) {
	n, err := strconv.ParseInt(strings.TrimRight(number, ".,;:?!"), 10, 64)
	if err != nil || n <= 0 {
		return provider.Part{}, cmdline.Usagef("@chat:12", "@chat: wants the number of a chat")
	}
	doc, _, err := t.eng.ExportChat(ctx, store.ChatRef{Number: n})
	if err != nil {
		return provider.Part{}, err
	}
	var b strings.Builder
	if err := transcript.Markdown(&b, doc, transcript.Options{}); err != nil {
		return provider.Part{}, err
	}
	return provider.Part{Kind: provider.FilePart, Name: fmt.Sprintf("chat-%d.md", n), Text: b.String()}, nil
}

package store

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/fettle-cli/fettle/cas"
	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/fault"
	"github.com/fettle-cli/fettle/internal/kv"
)

// Article is the article of a noun.
func Article(noun string) string {
	if strings.HasPrefix(noun, "u") {
		return "an"
	}
	return "a"
}

// BegunAt says in brackets when an operation began; "" for the zero time.
func BegunAt(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return " (it began " + at.Local().Format("2006-01-02 15:04:05") + ")"
}

// recovered emits a notice of what was done about a restore that was cut short.
func (s *Store) recovered(ctx context.Context, r cas.Recovery) {
	s.Options.Notice(s.ChatName(ctx, r.ChatID) + RecoveryText(r))
}

// ChatName is the beginning of a notice about a chat.
func (s *Store) ChatName(ctx context.Context, id string) string {
	var chat *chat.Chat
	err := s.View(ctx, func(tx *kv.Tx) (err error) {
		chat, err = s.Tables.Chats.Get(tx, kv.Str(id))
		return err
	})
	if err != nil {
		return "" // a failed notice must not fail the operation
	}
	return fmt.Sprintf("chat %d: ", chat.Number)
}

// RecoveryText says what was done about a restore that was cut short.
func RecoveryText(r cas.Recovery) string {
	doing := cmp.Or(r.Doing, "restore")
	text := Article(doing) + " " + doing + " in " + r.Path + " was cut short" + BegunAt(r.Started)
	if r.Done {
		return text + "; all files had been brought back, and it is finished now"
	}
	var names []string
	for _, c := range r.Changes {
		if !c.FoldersOnly() {
			names = append(names, cas.EscapePath(c.Path))
		}
	}
	if len(names) == 0 {
		text += "; it had changed no file, and was taken back"
	} else {
		text += "; it was taken back, and " + fault.Plural(len(names), "file") + " became what it was before: " + SomeOf(names)
	}
	if len(r.Left) == 0 {
		return text
	}
	names = nil
	for _, l := range r.Left {
		names = append(names, cas.EscapePath(l.Path)+" ("+l.Reason+")")
	}
	return text + "; left as they are: " + SomeOf(names)
}

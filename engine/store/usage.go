package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fettle-cli/fettle/engine/chat"
	"github.com/fettle-cli/fettle/engine/event"
	"github.com/fettle-cli/fettle/engine/provider"
	"github.com/fettle-cli/fettle/internal/kv"
)

// Spent is what one model used in a day, or of a chat in a day: what providers
// told, never an estimate. Its JSON is a record format.
type Spent struct {
	// Day is the date on which the turns began, where the machine was.
	Day string `json:"day,omitempty"` // YYYY-MM-DD
	// ChatID and Number are set where chats are told apart. A chat that is
	// gone keeps its row: its tokens were used.
	ChatID string `json:"chat_id,omitempty"`
	Number int64  `json:"number,omitempty"`
	Model  string `json:"model"` // provider/model
	// Turns were answered by the model. Of Untold of them the provider told no
	// tokens, or not all, as where a turn was cut off.
	Turns  int64       `json:"turns"`
	Untold int64       `json:"untold,omitempty"`
	Tokens event.Usage `json:"tokens"`

	// Title is the chat's, as it is now; it is not stored.
	Title string `json:"-"`
	// Gone tells that the chat was deleted.
	Gone bool `json:"-"`
}

// add sums two rows of one key.
func (s *Spent) add(o Spent) {
	s.Turns, s.Untold = s.Turns+o.Turns, s.Untold+o.Untold
	s.Tokens = *s.Tokens.Add(&o.Tokens)
}

// spentDay is the form of Spent.Day; it sorts by time.
const spentDay = time.DateOnly

// usageTables keep what was used, summed up where turns are recorded, so that
// nobody reads all messages for it. A turn is counted in the transaction that
// marks it as Counted, so never twice.
type usageTables struct {
	Days  *kv.Table[Spent] // by day and model
	Chats *kv.Table[Spent] // by day, chat and model
	// State says that turns from before there were these tables are in them.
	State *kv.Table[usageState]
}

type usageState struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}

// UsageCounted is the key of the record that says how far turns are counted.
const UsageCounted = "counted"

func newUsageTables() *usageTables {
	return &usageTables{
		Days: kv.NewTable("usage_days", func(s *Spent) kv.Key { return kv.Str(s.Day).Str(s.Model) }),
		Chats: kv.NewTable("usage_chats", func(s *Spent) kv.Key {
			return kv.Str(s.Day).Str(s.ChatID).Str(s.Model)
		}),
		State: kv.NewTable("usage_state", func(s *usageState) kv.Key { return kv.Str(s.Name) }),
	}
}

// count adds rows of a chat to the sums.
func (u *usageTables) count(tx *kv.Tx, rows []Spent, number int64) error {
	for _, row := range rows {
		day := row
		day.ChatID, row.Number = "", number
		if err := errors.Join(addSpent(tx, u.Days, day), addSpent(tx, u.Chats, row)); err != nil {
			return err
		}
	}
	return nil
}

func addSpent(tx *kv.Tx, t *kv.Table[Spent], row Spent) error {
	sum, err := t.Get(tx, t.KeyOf(&row))
	if err != nil && Unreadable(err) { // a sum that is damaged begins again
		return t.Put(tx, &row)
	}
	if err != nil {
		return err
	}
	sum.add(row)
	return t.Put(tx, sum)
}

// countTurn counts a turn that is being recorded.
func (s *Store) countTurn(tx *kv.Tx, f *Folding, chat *chat.Chat) error {
	if f.Accept.App != "" && len(f.tokens) == 0 {
		return nil // no model was asked
	}
	return s.Tables.Usage.count(tx, SpentBy(f.answer, f.tokens), chat.Number)
}

// TokensOf adds up what the responses of a turn used, by model: a fallback may
// answer a later one.
type TokensOf map[string]*event.Usage

func (t TokensOf) add(e event.Event) {
	switch b := e.Body.(type) {
	case event.Meta:
		if b.Usage != nil {
			t[b.Model] = t[b.Model].Add(b.Usage)
		}
	case event.Prompted:
		if b.Usage != nil {
			t[b.Model] = t[b.Model].Add(b.Usage)
		}
	case event.Summary:
		if b.Usage != nil {
			t[b.Model] = t[b.Model].Add(b.Usage)
		}
	}
}

// SpentBy makes the rows of a turn: one for the model that answered, and one
// for each other that gave a response on the way.
func SpentBy(answer chat.Message, tokens TokensOf) []Spent {
	day := answer.CreatedAt.Local().Format(spentDay)
	rows := []Spent{{Day: day, ChatID: answer.ChatID, Model: answer.Model, Turns: 1}}
	if untold(answer) {
		rows[0].Untold = 1
	}
	for model, u := range tokens {
		if model == "" || model == answer.Model {
			rows[0].Tokens = *rows[0].Tokens.Add(u)
			continue
		}
		rows = append(rows, Spent{Day: day, ChatID: answer.ChatID, Model: model, Tokens: *u})
	}
	return rows
}

// untold tells whether a turn used tokens that no provider told: it got
// something and no count of it, or was cut off in the middle of a response,
// whose count comes at its end.
func untold(answer chat.Message) bool {
	if len(answer.Parts) == 0 {
		return false // nothing came, so nothing may have been used
	}
	if answer.Usage == nil {
		return true
	}
	last := answer.Parts[len(answer.Parts)-1].Kind
	return (answer.Status == chat.Stopped || answer.Status == chat.CutShort) &&
		(last == provider.TextPart || last == provider.ReasoningPart)
}

// UsageByDay tells what was used since the day of a time (all, for the zero
// time), a row a day and model, oldest day first.
func (s *Store) UsageByDay(ctx context.Context, since time.Time) ([]Spent, error) {
	return s.usage(ctx, since, func(tx *kv.Tx, r kv.Range) ([]Spent, error) {
		return s.collectSpent(tx, s.Tables.Usage.Days, r)
	})
}

// UsageByChat is UsageByDay with a row a chat and model, whose Day is empty, in
// the order of the chats' numbers.
func (s *Store) UsageByChat(ctx context.Context, since time.Time) ([]Spent, error) {
	return s.usage(ctx, since, func(tx *kv.Tx, r kv.Range) ([]Spent, error) {
		rows, err := s.collectSpent(tx, s.Tables.Usage.Chats, r)
		if err != nil {
			return nil, err
		}
		rows = withoutDays(rows)
		err = s.nameChats(tx, rows)
		slices.SortStableFunc(rows, func(a, b Spent) int { return cmp.Compare(a.Number, b.Number) })
		return rows, err
	})
}

func (s *Store) usage(ctx context.Context, since time.Time, read func(*kv.Tx, kv.Range) ([]Spent, error)) ([]Spent, error) {
	if _, err := s.Fold(ctx, FoldAll); err != nil {
		return nil, err
	}
	if err := s.countOldTurns(ctx); err != nil {
		return nil, err
	}
	var r kv.Range
	if !since.IsZero() {
		r.From = kv.Str(since.Local().Format(spentDay))
	}
	var rows []Spent
	err := s.View(ctx, func(tx *kv.Tx) (err error) {
		rows, err = read(tx, r)
		return err
	})
	if errors.Is(err, kv.ErrNotFound) {
		return nil, nil // no store yet
	}
	return rows, err
}

func (s *Store) collectSpent(tx *kv.Tx, t *kv.Table[Spent], r kv.Range) ([]Spent, error) {
	var rows []Spent
	for row, err := range Legible(s, t.Scan(tx, r)) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, *row)
	}
	return rows, nil
}

// withoutDays sums up the days of each chat and model. Rows of a chat stand
// together.
func withoutDays(rows []Spent) []Spent {
	type chatModel struct{ chat, model string }
	at := map[chatModel]int{}
	var out []Spent
	for _, row := range rows {
		key := chatModel{row.ChatID, row.Model}
		i, ok := at[key]
		if ok {
			out[i].add(row)
			continue
		}
		at[key] = len(out)
		row.Day = ""
		out = append(out, row)
	}
	slices.SortStableFunc(out, func(a, b Spent) int { return cmp.Compare(a.ChatID, b.ChatID) })
	return out
}

// nameChats looks up the titles; rows of one chat stand together.
func (s *Store) nameChats(tx *kv.Tx, rows []Spent) error {
	for i := range rows {
		if i > 0 && rows[i].ChatID == rows[i-1].ChatID {
			rows[i].Number, rows[i].Title, rows[i].Gone = rows[i-1].Number, rows[i-1].Title, rows[i-1].Gone
			continue
		}
		chat, err := s.Tables.Chats.Get(tx, kv.Str(rows[i].ChatID))
		if errors.Is(err, kv.ErrNotFound) {
			rows[i].Gone = true
			continue
		}
		if err != nil && s.LeavesOut(err) {
			continue // its number is in the row
		}
		if err != nil {
			return err
		}
		rows[i].Number, rows[i].Title, rows[i].Gone = chat.Number, chat.Title, chat.DeletedAt != nil
	}
	return nil
}

// CountGroup is how many old turns are counted in one transaction: their
// messages are read, so it bounds how long the store is held.
const CountGroup = 100

// countOldTurns counts the turns that were recorded before there were sums,
// once for a store. It may be stopped anywhere and run by several processes.
func (s *Store) countOldTurns(ctx context.Context) error {
	done := false
	err := s.View(ctx, func(tx *kv.Tx) (err error) {
		done, err = s.Tables.Usage.State.Has(tx, kv.Str(UsageCounted))
		return err
	})
	if errors.Is(err, kv.ErrNotFound) || err == nil && done {
		return nil
	}
	if err != nil {
		return err
	}
	release, err := s.ShareData(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	for last := kv.Key(nil); ; {
		err := s.KV.Update(ctx, func(tx *kv.Tx) (err error) {
			last, err = s.CountGroup(tx, last)
			return err
		})
		if err != nil {
			return s.StoreTrouble(fmt.Errorf("count the tokens of older turns: %w", err))
		}
		if last == nil {
			return nil
		}
	}
}

// CountGroup counts the old ones of a group of turns behind last. It gives the
// last turn's key, or nil once there are none left.
func (s *Store) CountGroup(tx *kv.Tx, last kv.Key) (kv.Key, error) {
	n := 0
	for key, err := range s.Tables.Turns.Keys(tx, kv.Range{After: last, Limit: CountGroup}) {
		if err != nil {
			return nil, err
		}
		n, last = n+1, key
		turn, err := s.Tables.Turns.Get(tx, key)
		if err == nil && !turn.Counted {
			err = s.countOld(tx, turn)
		}
		if err != nil && !errors.Is(err, kv.ErrNotFound) && !s.LeavesOut(err) {
			return nil, err
		}
	}
	if n == CountGroup {
		return last, nil
	}
	return nil, s.Tables.Usage.State.Put(tx, &usageState{Name: UsageCounted, At: s.Options.Now()})
}

// countOld counts a turn by the messages that are kept of it.
func (s *Store) countOld(tx *kv.Tx, turn *chat.Turn) error {
	turn.Counted = true
	if err := PutBounded(s.In(tx), s.Tables.Turns, turn, "turn "+turn.ID); err != nil {
		return err
	}
	answer, err := s.Message(tx, turn.ChatID, turn.MessageID)
	if errors.Is(err, kv.ErrNotFound) || err != nil && s.LeavesOut(err) {
		return nil
	}
	if err != nil {
		return err
	}
	number := int64(0)
	chat, err := s.Tables.Chats.Get(tx, kv.Str(turn.ChatID))
	switch {
	case err == nil:
		number = chat.Number
	case !Unreadable(err):
		return err
	}
	return s.Tables.Usage.count(tx, SpentBy(*answer, TokensOf{answer.Model: answer.Usage}), number)
}

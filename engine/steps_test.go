package engine

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
)

// This file has the steps of the operations on a data directory, in the order in which
// the engine does them, on a model of its journals, its records, its states and its
// locks. A step of the model costs nanoseconds and one of the engine milliseconds, so
// that many more orders can be tried. TestTheStepsAreTheEngines holds the two against
// each other.

// defects are faults that can be put into the steps; each was one of the engine.
type defects struct {
	readsBeforeLock bool // the collector reads what is live, and then takes its lock
	purgeIsFree     bool // a purge doesn't hold the data directory's lock
	linksTables     bool // a backup reads tables that a merge empties
	stopsAtBad      bool // a record that can't be stored ends the fold of all
	unlinksFirst    bool // a fold removes journals before it records
	foldsTwice      bool // a fold doesn't check for what an earlier one has recorded
}

// mJournal is a journal: the turn that it has, and whether that has ended.
type mJournal struct {
	turn, chat int
	bad        bool // a record of it can't be stored
}

// mChat is a chat's record.
type mChat struct {
	turns   []int
	state   int
	from    int // the chat that it was forked from, or 0
	deleted bool
	purging bool // it can't be reverted: gc finishes it
}

// mTable is a table of the store's files. A merge empties it.
type mTable struct{ emptied bool }

// mData is the content of a store.
type mData struct {
	chats  map[int]*mChat
	states map[int]int // the chat of each
}

func (d mData) clone() mData {
	out := mData{chats: map[int]*mChat{}, states: map[int]int{}}
	for id, c := range d.chats {
		other := *c
		other.turns = slices.Clone(c.turns)
		out.chats[id] = &other
	}
	for id, chat := range d.states {
		out.states[id] = chat
	}
	return out
}

// machine is a data directory of the model.
type machine struct {
	mData
	defects  defects
	journals []*mJournal
	live     map[int]bool // turns whose journal is held
	tables   []*mTable
	locks    map[string]*mLock
	next     int // ids

	// The simple model: what was acknowledged, and what was removed.
	acked  map[int][]int // turns, by chat
	whole  map[int]bool  // chats that came in whole
	gone   map[int]bool
	backed []mBackup
	putIn  *mData // the restored data

	old  mData    // the data that a restore brings
	then []func() // what comes before the schedule, and after the backup that it has
}

// begin ends the preparation of a schedule.
func (m *machine) begin() {
	m.old = m.clone()
	for _, do := range m.then {
		do()
	}
}

// mBackup is a backup that was made.
type mBackup struct {
	mData
	journals []*mJournal
	tables   []*mTable
	before   map[int][]int
	gone     map[int]bool
}

type mLock struct {
	alone  *mProc
	shared map[*mProc]int
}

// signal is where a process of the model has come to.
type signal struct {
	at      string
	blocked bool
}

// mProc is a process of the model: one operation.
type mProc struct {
	m     *machine
	name  string
	yield func(signal) bool
	next  func() (signal, bool)
	stop  func()
	ended bool
	waits bool
	at    string
	err   error
}

var errKilled = errors.New("killed")

func newMachine(d defects) *machine {
	return &machine{
		mData: mData{chats: map[int]*mChat{}, states: map[int]int{}}, defects: d, live: map[int]bool{},
		locks: map[string]*mLock{}, acked: map[int][]int{}, whole: map[int]bool{}, gone: map[int]bool{},
	}
}

// process makes a process that does what do does.
func (m *machine) process(name string, do func(*mProc)) *mProc {
	p := &mProc{m: m, name: name}
	p.next, p.stop = iter.Pull(func(yield func(signal) bool) {
		defer func() {
			if r := recover(); r != nil && r != any(errKilled) {
				panic(r)
			}
			p.free()
		}()
		p.yield = yield
		do(p)
	})
	return p
}

// free releases every lock, as the end of a process does.
func (p *mProc) free() {
	for name, l := range p.m.locks {
		if l.alone == p {
			l.alone = nil
		}
		delete(l.shared, p)
		if t, ok := strings.CutPrefix(name, "journal-"); ok && l.alone == nil {
			delete(p.m.live, atoi(t))
		}
	}
}

func atoi(s string) (n int) {
	_, _ = fmt.Sscan(s, &n)
	return n
}

// advance runs a process up to its next pause, its end, or a lock that it waits for.
func (p *mProc) advance() {
	s, ok := p.next()
	switch {
	case !ok:
		p.ended, p.waits, p.at = true, false, "end"
	default:
		p.waits, p.at = s.blocked, s.at
	}
}

func (p *mProc) kill() {
	p.stop()
	p.ended, p.at = true, "killed"
}

func (p *mProc) send(s signal) {
	if !p.yield(s) {
		panic(errKilled)
	}
}

func (p *mProc) pause(step string) { p.send(signal{at: step}) }

func (m *machine) lock(name string) *mLock {
	l := m.locks[name]
	if l == nil {
		l = &mLock{shared: map[*mProc]int{}}
		m.locks[name] = l
	}
	return l
}

// try takes a lock for one alone.
func (p *mProc) try(name string) (release func(), ok bool) {
	l := p.m.lock(name)
	if l.alone != nil || len(l.shared) > 0 {
		return nil, false
	}
	l.alone = p
	return func() { l.alone = nil }, true
}

func (p *mProc) alone(name string) (release func()) {
	for {
		if release, ok := p.try(name); ok {
			return release
		}
		p.send(signal{at: p.at, blocked: true})
	}
}

func (p *mProc) share(name string) (release func()) {
	l := p.m.lock(name)
	for l.alone != nil {
		p.send(signal{at: p.at, blocked: true})
	}
	l.shared[p]++
	return func() {
		if l.shared[p]--; l.shared[p] <= 0 {
			delete(l.shared, p)
		}
	}
}

func (m *machine) id() int {
	m.next++
	return m.next
}

// commit is a session that has written: it leaves a table.
func (m *machine) commit() { m.tables = append(m.tables, new(mTable)) }

// turn asks in a chat; chat is 0 for a new one.
func (m *machine) turn(p *mProc, chat int) {
	isNew := chat == 0
	if isNew {
		chat = m.id()
	}
	data := p.share("data")
	release := p.alone(fmt.Sprint("chat-", chat))
	if !isNew {
		m.fold(p)
		if m.chats[chat] == nil {
			release()
			data()
			p.err = errors.New("no such chat")
			return
		}
	}
	turn := m.id()
	p.pause("start:numbered")
	held := p.alone(fmt.Sprint("journal-", turn))
	m.live[turn] = true
	p.pause("start:created")
	m.journals = append(m.journals, &mJournal{turn: turn, chat: chat})
	m.snapshot(p, chat)
	p.pause("turn:call")
	m.snapshot(p, chat)
	delete(m.live, turn)
	held()
	release()
	data()
	m.acked[chat] = append(m.acked[chat], turn)
}

func (m *machine) snapshot(p *mProc, chat int) {
	release := p.share("gc")
	m.states[m.id()] = chat
	m.commit()
	release()
}

func (m *machine) ended() []*mJournal {
	var out []*mJournal
	for _, j := range m.journals {
		if !m.live[j.turn] {
			out = append(out, j)
		}
	}
	return out
}

// fold moves journals into the store.
func (m *machine) fold(p *mProc) {
	if len(m.ended()) == 0 {
		return
	}
	release := p.alone("fold")
	defer release()
	list := m.ended() // another may have folded meanwhile
	var group []*mJournal
	var held []func()
	for _, j := range list {
		let, ok := p.try(fmt.Sprint("journal-", j.turn))
		if !ok {
			continue
		}
		group, held = append(group, j), append(held, let)
		p.pause("fold:claimed")
	}
	if len(group) > 0 {
		m.store(p, group)
	}
	for _, let := range held {
		let()
	}
}

// store writes a group, and removes its journals.
func (m *machine) store(p *mProc, group []*mJournal) {
	if m.defects.unlinksFirst {
		m.unlink(p, group)
	}
	known := map[int]bool{}
	for _, j := range group {
		c := m.chats[j.chat]
		known[j.turn] = c != nil && slices.Contains(c.turns, j.turn) && !m.defects.foldsTwice
	}
	p.pause("fold:parts")
	kept := group[:0:0]
	for _, j := range group {
		if j.bad {
			if m.defects.stopsAtBad {
				p.err = errors.New("a record can't be stored")
				return
			}
			continue
		}
		kept = append(kept, j)
		if known[j.turn] {
			continue
		}
		c := m.chats[j.chat]
		if c == nil {
			c = new(mChat)
			m.chats[j.chat] = c
		}
		c.turns = append(c.turns, j.turn)
		for state, chat := range m.states {
			if chat == j.chat {
				c.state = max(c.state, state)
			}
		}
		m.commit()
	}
	p.pause("fold:recorded")
	p.pause("fold:written")
	if !m.defects.unlinksFirst {
		m.unlink(p, kept)
	}
}

func (m *machine) unlink(p *mProc, group []*mJournal) {
	for _, j := range group {
		p.pause("fold:synced")
		if i := slices.Index(m.journals, j); i >= 0 {
			m.journals = slices.Delete(m.journals, i, i+1)
		}
	}
}

// borrowed reports whether a fork has a state of another chat.
func (m *machine) borrowed(state int) bool {
	for _, c := range m.chats {
		if c.from != 0 && c.state == state {
			return true
		}
	}
	return false
}

// collect removes the states that no chat needs.
func (m *machine) collect(p *mProc) {
	m.purge(p, func(_ int, c *mChat) bool { return c.purging })
	known := map[int]bool{}
	read := func() {
		for _, j := range m.journals {
			known[j.chat] = true
		}
		p.pause("collect:journals")
		for id := range m.chats {
			known[id] = true
		}
	}
	if m.defects.readsBeforeLock {
		read()
	}
	release := p.alone("gc")
	defer release()
	if !m.defects.readsBeforeLock {
		read()
	}
	for state, chat := range m.states {
		if !known[chat] && !m.borrowed(state) {
			delete(m.states, state)
		}
	}
	m.commit()
}

// imports brings in a chat with a history.
func (m *machine) imports(p *mProc) {
	defer p.share("data")()
	defer p.share("gc")()
	chat, state := m.id(), m.id()
	m.states[state] = chat
	m.commit()
	p.pause("import:states")
	m.insert(p, chat, &mChat{state: state})
}

// insert makes a chat appear at once.
func (m *machine) insert(p *mProc, chat int, c *mChat) {
	defer p.alone(fmt.Sprint("chat-", chat))()
	p.pause("insert:begun")
	p.pause("insert:written")
	m.chats[chat] = c
	m.whole[chat] = true
	m.commit()
}

// fork makes a chat that borrows a state of another chat.
func (m *machine) fork(p *mProc, from int) {
	defer p.share("data")()
	m.fold(p)
	c := m.chats[from]
	if c == nil {
		p.err = errors.New("no such chat")
		return
	}
	made := &mChat{state: c.state, from: from, turns: slices.Clone(c.turns)}
	m.insert(p, m.id(), made)
}

// purge removes deleted chats for good.
func (m *machine) purge(p *mProc, means func(int, *mChat) bool) {
	m.fold(p)
	var due []int
	for id, c := range m.chats {
		if c.deleted && means(id, c) {
			due = append(due, id)
		}
	}
	if len(due) == 0 {
		return
	}
	defer p.alone("purge")()
	slices.Sort(due)
	for _, id := range due {
		m.purgeOne(p, id, means)
	}
}

// purgeOne notes that a chat is being removed, and then removes it, each under its
// locks: between the two the data directory may be replaced.
func (m *machine) purgeOne(p *mProc, chat int, means func(int, *mChat) bool) {
	c, release := m.purging(p, chat, means)
	if c == nil {
		return
	}
	c.purging = true
	release()
	p.pause("purge:begun")
	if !m.defects.purgeIsFree {
		means = func(_ int, c *mChat) bool { return c.purging }
	}
	c, release = m.purging(p, chat, means)
	if c == nil {
		return
	}
	defer release()
	if len(c.turns) > 0 {
		p.pause("purge:events")
		c.turns = nil
		p.pause("purge:messages")
	}
	p.pause("purge:calls")
	for state, of := range m.states {
		if of == chat && !m.borrowed(state) {
			delete(m.states, state)
		}
	}
	p.pause("purge:states")
	delete(m.chats, chat)
	m.gone[chat] = true
	m.commit()
	p.pause("purge:done")
}

// purging takes the locks of a chat that is deleted, if it is meant and not busy.
func (m *machine) purging(p *mProc, chat int, means func(int, *mChat) bool) (*mChat, func()) {
	data := func() {}
	if !m.defects.purgeIsFree {
		data = p.share("data")
	}
	release, ok := p.try(fmt.Sprint("chat-", chat))
	if !ok {
		data()
		return nil, nil
	}
	c := m.chats[chat]
	if c == nil || !m.defects.purgeIsFree && !c.deleted || !means(chat, c) {
		release()
		data()
		return nil, nil
	}
	return c, func() { release(); data() }
}

// backup reads the journals, then a copy of the store.
func (m *machine) backup(p *mProc) {
	defer p.share("data")()
	defer p.alone("backup")()
	before := map[int][]int{}
	for chat, turns := range m.acked {
		before[chat] = slices.Clone(turns)
	}
	p.pause("backup:taking in what waits")
	m.fold(p)
	defer p.share("gc")()
	p.pause("backup:taking in the folders of chats")
	p.pause("backup:writing")
	out := mBackup{before: before, gone: m.gone, journals: slices.Clone(m.journals)}
	p.pause("backup:moved")
	out.mData, out.tables = m.clone(), slices.Clone(m.tables)
	if !m.defects.linksTables {
		out.tables = nil
	}
	for range 3 {
		p.pause("backup:moved")
	}
	for _, t := range out.tables {
		if t.emptied {
			p.err = nil // it isn't noticed: the backup reports success
		}
	}
	m.backed = append(m.backed, out)
}

// merge makes one table of all.
func (m *machine) merge(p *mProc) {
	p.pause("merge:read")
	for _, t := range m.tables {
		t.emptied = true
	}
	m.tables = []*mTable{new(mTable)}
}

// restore restores the data from the begin of the schedule.
func (m *machine) restore(p *mProc, was mData) {
	p.pause("restore:read")
	p.pause("restore:verified")
	defer p.alone("data")()
	defer p.alone("fold")()
	defer p.alone("gc")()
	p.pause("restore:marked")
	m.mData, m.journals = was.clone(), nil
	m.acked, m.gone = map[int][]int{}, map[int]bool{}
	for id, c := range was.chats {
		m.acked[id] = slices.Clone(c.turns)
	}
	m.whole = map[int]bool{}
	m.putIn = &was
	m.commit()
}

// check compares the data, after all processes have ended and another one has folded,
// with what was acknowledged.
func (m *machine) check() error {
	p := m.process("last", m.fold)
	for !p.ended {
		p.advance()
		if p.waits {
			return fmt.Errorf("a lock is held although no process runs")
		}
	}
	for _, j := range m.journals {
		if !j.bad {
			return fmt.Errorf("the journal of turn %d stays", j.turn)
		}
	}
	if err := m.mData.holds(m.acked, m.gone, nil); err != nil {
		return err
	}
	if m.putIn != nil {
		for id := range m.putIn.chats {
			if m.chats[id] == nil {
				return fmt.Errorf("chat %d was put back and is gone", id)
			}
		}
	}
	for id := range m.whole {
		if m.chats[id] == nil && !m.gone[id] {
			return fmt.Errorf("chat %d came in whole and is gone", id)
		}
	}
	for _, b := range m.backed {
		if slices.ContainsFunc(b.tables, func(t *mTable) bool { return t.emptied }) {
			return errors.New("a backup has an empty table")
		}
		if m.putIn != nil {
			continue
		}
		if err := b.holds(b.before, b.gone, b.journals); err != nil {
			return fmt.Errorf("in the backup: %w", err)
		}
	}
	return nil
}

// holds reports how the data differs from what was acknowledged.
func (d mData) holds(acked map[int][]int, gone map[int]bool, journals []*mJournal) error {
	for id, turns := range acked {
		c := d.chats[id]
		if gone[id] || c != nil && c.deleted {
			continue // it may be removed in part
		}
		for _, turn := range turns {
			n := 0
			if c != nil {
				for _, t := range c.turns {
					if t == turn {
						n++
					}
				}
			}
			waits := slices.ContainsFunc(journals, func(j *mJournal) bool { return j.turn == turn })
			if n > 1 || n == 0 && !waits {
				return fmt.Errorf("turn %d of chat %d is there %d times", turn, id, n)
			}
		}
	}
	for id, c := range d.chats {
		if _, ok := d.states[c.state]; c.state != 0 && !ok && !c.deleted {
			return fmt.Errorf("state %d of chat %d is gone", c.state, id)
		}
	}
	return nil
}

// steps are the operations of the model, by the names that those of the engine have.
// Each prepares the machine, and returns what its process does.
func (m *machine) steps() map[string]func() func(*mProc) {
	folded := func() int {
		chat, turn, state := m.id(), m.id(), m.id()
		m.states[state] = chat
		m.chats[chat] = &mChat{turns: []int{turn}, state: state}
		m.acked[chat] = []int{turn}
		return chat
	}
	waiting := func(chat int, bad bool) {
		turn := m.id()
		m.states[m.id()] = chat
		m.journals = append(m.journals, &mJournal{turn: turn, chat: chat, bad: bad})
		if !bad {
			m.acked[chat] = append(m.acked[chat], turn)
		}
	}
	return map[string]func() func(*mProc){
		"turn":     func() func(*mProc) { return func(p *mProc) { m.turn(p, 0) } },
		"continue": func() func(*mProc) { chat := folded(); return func(p *mProc) { m.turn(p, chat) } },
		"fold": func() func(*mProc) {
			waiting(m.id(), false)
			chat := m.id()
			waiting(chat, false)
			waiting(chat, false)
			return m.fold
		},
		"spoil":  func() func(*mProc) { waiting(m.id(), true); return m.fold },
		"gc":     func() func(*mProc) { return m.collect },
		"import": func() func(*mProc) { return m.imports },
		"purge": func() func(*mProc) {
			chat := folded()
			m.chats[m.id()] = &mChat{state: m.chats[chat].state, from: chat}
			m.then = append(m.then, func() { m.chats[chat].deleted = true })
			return func(p *mProc) { m.purge(p, func(id int, _ *mChat) bool { return id == chat }) }
		},
		"fork":   func() func(*mProc) { chat := folded(); return func(p *mProc) { m.fork(p, chat) } },
		"backup": func() func(*mProc) { waiting(m.id(), false); return m.backup },
		"merge":  func() func(*mProc) { return m.merge },
		"restore": func() func(*mProc) {
			folded()
			return func(p *mProc) { m.restore(p, m.old) }
		},
	}
}

// playSteps runs a schedule of a seed on the model.
func playSteps(seed uint64, d defects) (trace []string, err error) {
	rng := rand.New(rand.NewPCG(seed, 2))
	m := newMachine(d)
	kinds := []string{"turn", "continue", "fold", "spoil", "gc", "import", "purge", "fork", "backup", "merge", "restore"}
	steps := m.steps()
	var procs []*mProc
	var does []func(*mProc)
	var names []string
	for range 2 + rng.IntN(4) {
		name := kinds[rng.IntN(len(kinds))]
		if name == "restore" && slices.Contains(names, name) {
			continue
		}
		names, does = append(names, name), append(does, steps[name]())
	}
	for i, do := range does {
		procs = append(procs, m.process(fmt.Sprint(i+1, ":", names[i]), do))
	}
	m.begin()
	kills := rng.IntN(3) == 0
	for {
		var ready []*mProc
		left := 0
		for _, p := range procs {
			if !p.ended {
				left++
				ready = append(ready, p)
			}
		}
		if left == 0 {
			break
		}
		p := ready[rng.IntN(len(ready))]
		if kills && rng.IntN(25) == 0 {
			p.kill()
		} else if p.advance(); p.waits {
			if !slices.ContainsFunc(ready, func(p *mProc) bool { return !p.waits }) && m.stuck(ready) {
				return trace, errors.New("all processes wait for each other")
			}
			continue
		}
		trace = append(trace, p.name+" "+p.at)
		for _, other := range ready {
			other.waits = false
		}
	}
	for _, p := range procs {
		if p.err != nil && !strings.HasPrefix(p.err.Error(), "no such chat") {
			return trace, fmt.Errorf("%s: %w", p.name, p.err)
		}
	}
	return trace, m.check()
}

// stuck reports whether none of the processes can advance.
func (m *machine) stuck(all []*mProc) bool {
	for _, p := range all {
		if p.advance(); !p.waits {
			return false
		}
	}
	return true
}

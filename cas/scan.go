package cas

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	// maxDepth and maxPath bound how deep a folder is followed; what lies
	// deeper becomes a Failed entry. Systems take paths of 4 KB in one call.
	maxDepth = 1000
	maxPath  = 8000
	// dirBuffer is what the names of a folder are read by.
	dirBuffer = 32 << 10
)

// scanner reads the names and stats of a workspace and compares them with what
// is known. It reads no file's content but those that rules need.
type scanner struct {
	t       *tree
	old     *index
	rules   *rules
	held    held
	maxFile int64
	now     int64 // when the scan began
	// lists tells that a folder's times can be believed to show every change of
	// its names, as those of a file show every change of its content: it is a
	// local file system that is known for it.
	lists bool

	mu      sync.Mutex
	ready   sync.Cond // a folder is waiting, or nothing is left
	queue   []folderJob
	running int
	err     error
	done    map[string]*folderScan

	names linkedNames // of files that have several

	foreignMu sync.Mutex
	foreign   string // an entry that belongs to another user or group
}

// folderJob is a folder to be read.
type folderJob struct {
	path  string
	depth int
	perm  Perm
	kept  bool // a rule names it as content
	// only is the reason why names in it are left out that the state to be restored does
	// not have; empty where all are taken in.
	only string
}

// folderScan is what a scan found of one folder.
type folderScan struct {
	rec *dirRec
	// todo are the entries whose content must be read.
	todo      []int
	todoBytes int64
	perm      Perm // of the folder itself; unknown where its record has not been scanned
	// omit, fail and gone tell why there is no rec.
	omit string
	fail string
	gone bool
}

// walk reads all folders, with several workers.
func (s *scanner) walk(ctx context.Context) (map[string]*folderScan, error) {
	s.ready.L = &s.mu
	s.done = make(map[string]*folderScan, s.old.dirs.n+16)
	s.queue = []folderJob{{}}
	stop := context.AfterFunc(ctx, func() { s.stop(ctx.Err()) })
	defer stop()
	var workers sync.WaitGroup
	for range min(2*runtime.GOMAXPROCS(0), maxWorkers) {
		workers.Go(s.work)
	}
	workers.Wait()
	// A context that ends just now still writes err: AfterFunc's stop doesn't
	// wait for a function that has begun.
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done, s.err
}

func (s *scanner) stop(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.ready.Broadcast()
}

// work takes folders until none is left. The last one that was added comes
// first, so that the list stays short.
func (s *scanner) work() {
	buf := make([]byte, dirBuffer)
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && s.running > 0 && s.err == nil {
			s.ready.Wait()
		}
		if len(s.queue) == 0 || s.err != nil {
			s.mu.Unlock()
			return
		}
		job := s.queue[len(s.queue)-1]
		s.queue = s.queue[:len(s.queue)-1]
		s.running++
		s.mu.Unlock()

		found, subs, err := s.folder(job, buf)
		if err != nil {
			s.stop(err)
		}
		s.mu.Lock()
		s.running--
		s.done[job.path] = found
		s.queue = append(s.queue, subs...)
		if len(subs) > 1 || (s.running == 0 && len(s.queue) == 0) {
			s.ready.Broadcast()
		}
		s.mu.Unlock()
	}
}

// failedFolder is what a scan has of a folder that can't be read. Only the root's
// faults are the scan's; another folder's are a Failed entry.
func failedFolder(job folderJob, err error) (*folderScan, []folderJob, error) {
	switch {
	case job.path == "":
		return &folderScan{}, nil, err
	case gone(err):
		return &folderScan{gone: true}, nil, nil
	}
	return &folderScan{fail: reasonOf(err)}, nil, nil
}

// folder reads one folder.
func (s *scanner) folder(job folderJob, buf []byte) (*folderScan, []folderJob, error) {
	d, err := s.t.dir(job.path)
	var names []string
	var listed listing
	known := false
	if err == nil {
		defer d.close()
		if names, listed, known = s.list(job.path, d); !known {
			names, err = d.names(buf)
		}
	}
	if err != nil {
		return failedFolder(job, err)
	}
	if s.rules != nil && job.path != "" && !job.kept && job.only == "" && !inStage(job.path) {
		if why := omitFolder(d, names); why != "" {
			take, only, err := s.held.takes(job.path, why)
			switch {
			case err != nil:
				return &folderScan{}, nil, err
			case !take:
				return &folderScan{omit: why}, nil, nil
			case only:
				job.only = why
			}
		}
	}
	f := &folderReader{s: s, d: d, job: job, names: names, old: s.old.dirs.get(job.path), staged: inStage(job.path)}
	f.read()
	if f.err != nil {
		return &folderScan{}, nil, f.err
	}
	if known && f.lost {
		// A name is gone and the folder's stat doesn't show it: it goes at this
		// moment, or the file system isn't what it is taken for.
		if names, err = d.names(buf); err != nil {
			return failedFolder(job, err)
		}
		f = &folderReader{s: s, d: d, job: job, names: names, old: f.old, staged: f.staged}
		listed = listing{}
		if f.read(); f.err != nil {
			return &folderScan{}, nil, f.err
		}
	}
	return &folderScan{rec: f.result(listed), todo: f.todo, todoBytes: f.bytes, perm: job.perm}, f.subs, nil
}

// list gives a folder's names as they are known, if its own stat shows that none
// has come or gone: that saves a fifth of a scan. listed is to be noted with
// names that are read after it.
func (s *scanner) list(path string, d *dir) (names []string, listed listing, known bool) {
	if !s.lists {
		return nil, listing{}, false
	}
	st, err := d.self()
	if err != nil || s.elsewhere(&st) || racy(&st, s.now, 0, false) {
		return nil, listing{}, false
	}
	listed = listing{mtime: st.mtime, ctime: st.ctime, ino: st.ino}
	if old := s.old.dirs.get(path); old != nil && old.listed == listed {
		return old.names(), listed, true
	}
	return nil, listed, false
}

// elsewhere reports whether a file is on another file system than the root. That may be of any
// kind, so that it is not known whether its clock is this machine's.
func (s *scanner) elsewhere(st *stat) bool {
	return s.old.root.dev != 0 && st.dev != s.old.root.dev
}

// folderReader compares one folder with what is known of it. As long as all is
// as it was, nothing is written down.
type folderReader struct {
	s     *scanner
	d     *dir
	job   folderJob
	names []string
	old   *dirRec
	// staged reports that the folder is in a restore's own folder.
	staged bool

	same   int // how many entries of old were found in their places so far
	ents   []cached
	fresh  bool // ents holds what was found
	byName map[string]int
	todo   []int
	bytes  int64 // of todo
	subs   []folderJob
	lost   bool // a name was gone when it was looked at
	err    error
}

func (f *folderReader) read() {
	for _, name := range f.names {
		st, err := f.d.lstat(name)
		if gone(err) {
			f.lost = true
			continue
		}
		if err != nil { // one name that can't be looked at keeps no other from being kept
			f.take(f.known(name), cached{Entry: Entry{Name: name, Kind: Failed, Text: reasonOf(err)}})
			continue
		}
		if st.foreign && st.form != linkForm {
			f.s.foundForeign(join(f.job.path, name))
		}
		f.look(name, &st)
	}
}

// look takes one name in.
func (f *folderReader) look(name string, st *stat) {
	was := f.known(name)
	path := join(f.job.path, name)
	kept, only := false, f.job.only
	if f.s.rules != nil && !f.staged && !strings.HasPrefix(name, stagePrefix) {
		var why string
		why, kept = f.s.rules.omitName(f.job.path, name, st.form == folderForm, f.names)
		if why == "" && only != "" && !kept {
			why = only
		}
		if why != "" {
			take, some, err := f.s.held.takes(path, why)
			switch {
			case err != nil:
				f.err = err
				return
			case take && some:
				why, only = "", why
			case take:
				why = ""
			}
		}
		if why == omitGit && was == nil && st.form == folderForm && f.isEmpty(name) {
			return // no repository; a sandbox has an empty one while a call runs, so that it can make none
		}
		if why != "" {
			f.take(was, cached{Entry: Entry{Name: name, Kind: Omitted, Text: why}})
			return
		}
	}
	switch st.form {
	case regular:
		f.s.names.add(path, st)
		f.file(was, name, st)
	case folderForm:
		f.sub(was, st, folderJob{path: path, depth: f.job.depth + 1, kept: kept, only: only})
	case linkForm:
		f.link(was, name)
	default:
		f.take(was, cached{Entry: Entry{Name: name, Kind: Special, Text: st.form.String()}})
	}
}

// isEmpty reports whether a folder has nothing in it. One that cannot be read has.
func (f *folderReader) isEmpty(name string) bool {
	dir, err := f.d.open(name)
	if err != nil {
		return false
	}
	defer dir.Close()
	_, err = dir.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// inStage reports whether a path is in a restore's own folder, for which no rule counts: after
// a crash all that is in it must be kept.
func inStage(path string) bool {
	return strings.HasPrefix(path, stagePrefix) || strings.Contains(path, "/"+stagePrefix)
}

// known finds what is known of a name: in its place, as nearly always, or by a
// table that is made when the places differ.
func (f *folderReader) known(name string) *cached {
	if f.old == nil {
		return nil
	}
	ents := f.old.ents
	at := f.same
	if f.fresh {
		at = len(f.ents)
	}
	if at < len(ents) && ents[at].Name == name {
		return &ents[at]
	}
	if f.byName == nil {
		f.byName = make(map[string]int, len(ents))
		for i := range ents {
			f.byName[ents[i].Name] = i
		}
	}
	if i, ok := f.byName[name]; ok {
		return &ents[i]
	}
	return nil
}

// keep takes a known entry over as it is.
func (f *folderReader) keep(was *cached) {
	if !f.fresh && f.same < len(f.old.ents) && was == &f.old.ents[f.same] {
		f.same++
		return
	}
	f.add(*was)
}

// add writes an entry down that differs from what is known, or its place does.
func (f *folderReader) add(c cached) {
	if !f.fresh {
		f.fresh = true
		f.ents = make([]cached, 0, len(f.names))
		if f.old != nil {
			f.ents = append(f.ents, f.old.ents[:f.same]...)
		}
	}
	f.ents = append(f.ents, c)
}

// take adds an entry that has no stat, or keeps the known one that is equal.
func (f *folderReader) take(was *cached, c cached) {
	if was != nil && was.Entry == c.Entry {
		f.keep(was)
		return
	}
	f.add(c)
}

func (f *folderReader) file(was *cached, name string, st *stat) {
	if st.size > f.s.maxFile {
		f.take(was, cached{Entry: Entry{Name: name, Kind: Failed, Text: reasonTooLarge, Size: st.size}})
		return
	}
	if was != nil && was.clean(st) {
		if perm := permOf(st); perm != was.Perm { // an older program noted none
			c := *was
			c.Perm = perm
			f.add(c)
			return
		}
		f.keep(was)
		return
	}
	c := cached{Entry: Entry{Name: name}}
	if was != nil && was.content() {
		c = *was // its digest and stat, for what reads the file
	}
	f.add(c)
	f.todo = append(f.todo, len(f.ents)-1)
	f.bytes += st.size
}

func (f *folderReader) link(was *cached, name string) {
	target, err := f.d.readlink(name)
	switch {
	case gone(err):
	case err != nil:
		f.take(was, cached{Entry: Entry{Name: name, Kind: Failed, Text: reasonOf(err)}})
	default:
		f.take(was, cached{Entry: Entry{Name: name, Kind: Link, Text: target}})
	}
}

// sub takes in a folder, which job is to read.
func (f *folderReader) sub(was *cached, st *stat, job folderJob) {
	_, name := split(job.path)
	if job.depth > maxDepth || len(job.path) > maxPath {
		f.take(was, cached{Entry: Entry{Name: name, Kind: Failed, Text: reasonTooDeep}})
		return
	}
	job.perm = permOf(st)
	f.subs = append(f.subs, job)
	switch {
	case was != nil && (was.Kind == Folder && was.Perm == job.perm || was.Kind == Omitted || was.Kind == Failed):
		f.keep(was) // what it is now is known when it has been read
	case was != nil && was.Kind == Folder:
		c := *was
		c.Perm = job.perm
		f.add(c)
	default:
		f.add(cached{Entry: Entry{Name: name, Kind: Folder, Perm: job.perm}})
	}
}

// result is the known record if everything is as it was.
func (f *folderReader) result(listed listing) *dirRec {
	if !f.fresh && f.old != nil && f.same == len(f.old.ents) {
		return f.old.relisted(listed)
	}
	if !f.fresh { // the last ones are gone, or all is new and empty
		f.fresh = true
		if f.old != nil {
			f.ents = append(f.ents, f.old.ents[:f.same]...)
		}
	}
	return &dirRec{ents: f.ents, listed: listed}
}

const (
	// racyMargin is how long before the scan a change must lie so that another
	// one would show: file systems take their time from the kernel's tick, of
	// up to 10 ms.
	racyMargin = 20 * time.Millisecond
	// coarseMargin is that for timestamps of whole (FAT: two) seconds.
	coarseMargin = 2 * time.Second
)

// racy tells whether a file may change after it was read without its stat
// showing it. scanned is when the scan began that read it, and first when the
// same stat was first seen, 0 for just now.
func racy(st *stat, scanned, first int64, foreignClock bool) bool {
	margin := int64(racyMargin)
	stamp := st.ctime
	if stamp == 0 {
		stamp = st.mtime
	}
	if stamp%int64(time.Second) == 0 {
		margin = int64(coarseMargin)
	}
	if first != 0 && scanned-first >= margin {
		return false // by our own clock alone: it was quiet for long enough
	}
	return foreignClock || stamp >= scanned-margin
}

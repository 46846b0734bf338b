package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

const (
	// lookEvery is the interval at which free space is checked, which is two system
	// calls: a disk takes some hundred megabytes in that time.
	lookEvery = 100 * time.Millisecond
	// walkShare bounds what walking the workspace takes of a processor: after a
	// walk the next waits for so many times as long as it took.
	walkShare = 20
	// measureTime is what a start waits at most for the first walk: some
	// hundred files, beside some milliseconds for the start itself.
	measureTime = 5 * time.Millisecond
)

// size is what a folder holds, and what its disk has left.
type size struct {
	files int
	bytes int64
	free  int64         // bytes; -1 is unknown
	room  int64         // for so many files; -1 is unknown
	took  time.Duration // to find it out
}

// watches tells whether there is anything to watch.
func (p *process) watches() bool {
	return p.policy.Workspace != "" && !p.policy.ReadOnly &&
		(p.limits.Grown >= 0 || p.limits.GrownFiles >= 0 || p.limits.FreeDisk >= 0)
}

// area is the folder that the process writes its workspace's files to.
func (p *process) area() string {
	if p.policy.Layer != nil {
		return p.policy.Layer.Upper
	}
	return p.policy.Workspace
}

// measure sends to base what the workspace holds before the call. It waits for
// that only a little: a large workspace is measured while the process starts,
// and what that writes meanwhile may be missed.
func (p *process) measure() {
	if s, whole := p.walk(measureTime); whole { // always so of a layer, which is empty
		p.base <- s
		return
	}
	p.work.Go(func() {
		s, _ := p.walk(0)
		p.base <- s
	})
}

// watchWorkspace ends the process when it fills the disk or makes the
// workspace grow too much.
func (p *process) watchWorkspace() {
	base := p.base
	if !p.watches() {
		if p.temp == "" {
			return
		}
		base = make(chan size, 1)
		base <- size{}
	}
	select {
	case base := <-base:
		if cause, detail := p.lookOut(base); cause != "" {
			p.endInOrder(forced(), cause, detail)
		}
	case <-p.over:
	}
}

// forced is a context that has ended: what fills a disk isn't asked to stop.
func forced() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// lookOut returns a cause, or an empty one when the process has ended. The workspace is
// walked as soon as its disk has lost as much as the process may still write, so that it
// can't write much more between two walks, and now and then in any case.
func (p *process) lookOut(base size) (toolset.Cause, string) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	last, nextTemp := base, time.Time{}
	for next := time.Now().Add(base.took * walkShare); ; {
		select {
		case <-p.over:
			return "", ""
		case <-tick.C:
		}
		if begun := time.Now(); begun.After(nextTemp) {
			if cause, detail := p.overTemp(); cause != "" {
				return cause, detail
			}
			nextTemp = time.Now().Add(time.Since(begun) * walkShare)
		}
		if !p.watches() {
			continue
		}
		free, room, limits := freeSpace(p.area()), freeFiles(p.area()), p.limits
		if free >= 0 && limits.FreeDisk >= 0 && free < limits.FreeDisk && free < base.free {
			return toolset.DiskFull, fmt.Sprintf("%d MB were left on the workspace's disk, and %d MB have to stay free", free>>20, limits.FreeDisk>>20)
		}
		filling := limits.Grown >= 0 && last.free-free > limits.Grown-(last.bytes-base.bytes) ||
			limits.GrownFiles >= 0 && room >= 0 && last.room-room > int64(limits.GrownFiles-(last.files-base.files))
		if !filling && time.Now().Before(next) {
			continue
		}
		last, _ = p.walk(0)
		next = time.Now().Add(last.took * walkShare)
		switch {
		case limits.Grown >= 0 && last.bytes-base.bytes > limits.Grown:
			return toolset.WorkspaceBig, fmt.Sprintf("the workspace grew by %d MB, and %d MB are allowed", (last.bytes-base.bytes)>>20, limits.Grown>>20)
		case limits.GrownFiles >= 0 && last.files-base.files > limits.GrownFiles:
			return toolset.WorkspaceBig, fmt.Sprintf("the workspace grew by %d files, and %d are allowed", last.files-base.files, limits.GrownFiles)
		}
	}
}

// overTemp returns a cause if the folder for temporary files, which only level full has
// in memory with its own bound, holds too much.
func (p *process) overTemp() (toolset.Cause, string) {
	if p.temp == "" || p.limits.Temp < 0 && p.limits.TempFiles < 0 {
		return "", ""
	}
	s := p.sizeOf(p.temp, 0)
	switch {
	case p.limits.Temp >= 0 && s.bytes > p.limits.Temp:
		return toolset.WorkspaceBig, fmt.Sprintf("its temporary files had %d MB, and %d MB are allowed", s.bytes>>20, p.limits.Temp>>20)
	case p.limits.TempFiles >= 0 && s.files > p.limits.TempFiles:
		return toolset.WorkspaceBig, fmt.Sprintf("there were %d temporary files, and %d are allowed", s.files, p.limits.TempFiles)
	}
	return "", ""
}

// walk measures the workspace, and gives up where that takes longer than limit;
// 0 is no limit. What can't be read counts nothing. Of a workspace with a layer it measures
// the layer alone, as what the process has added to the workspace.
func (p *process) walk(limit time.Duration) (s size, whole bool) {
	free, room := freeSpace(p.area()), freeFiles(p.area())
	s = p.sizeOf(p.area(), limit)
	whole = limit == 0 || s.took <= limit
	s.free, s.room = free, room
	return s, whole
}

// sizeOf returns the size of a folder's content, and stops if that takes longer than
// limit.
func (p *process) sizeOf(dir string, limit time.Duration) (s size) {
	begun := time.Now()
	layered := p.policy.Layer != nil && dir == p.policy.Layer.Upper
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		select {
		case <-p.over:
			return fs.SkipAll
		default:
		}
		if err != nil {
			return nil
		}
		if s.files++; limit > 0 && time.Since(begun) > limit {
			return fs.SkipAll
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if info.Mode().IsRegular() {
			s.bytes += allocated(info)
		}
		if layered {
			s.replaces(info, filepath.Join(p.policy.Workspace, path[len(dir):]))
		}
		return nil
	})
	s.took = time.Since(begun)
	return s
}

// replaces subtracts what an entry of a layer replaces or removes at a path of the workspace.
func (s *size) replaces(entry fs.FileInfo, path string) {
	if entry.Mode()&fs.ModeCharDevice != 0 {
		s.files-- // it marks a removed entry, and is none itself
	}
	was, err := os.Lstat(path)
	if err != nil {
		return
	}
	s.files--
	if was.Mode().IsRegular() {
		s.bytes -= allocated(was)
	}
}

package sandbox

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/fettle-cli/fettle/toolset"
)

const (
	// lookEvery is how often free space is asked for, which is one system call.
	lookEvery = 500 * time.Millisecond
	// walkShare bounds what walking the workspace takes of a processor: after a
	// walk the next waits for so many times as long as it took.
	walkShare = 20
)

// grown is what a folder holds.
type grown struct {
	files int
	bytes int64
}

// watchWorkspace ends the process when it fills the disk or makes the
// workspace grow too much.
func (p *process) watchWorkspace() {
	if p.policy.Workspace == "" || p.policy.ReadOnly || p.limits.Grown < 0 && p.limits.GrownFiles < 0 && p.limits.FreeDisk < 0 {
		return
	}
	select {
	case <-p.begun:
	case <-p.over:
		return
	}
	if cause, detail := p.lookOut(); cause != "" {
		p.endInOrder(forced(), cause, detail)
	}
}

// forced is a context that has ended: what fills a disk isn't asked to stop.
func forced() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// lookOut returns with a cause, or with none when the process is over.
func (p *process) lookOut() (toolset.Cause, string) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	base, walked := p.walk()
	first := freeSpace(p.policy.Workspace)
	for next := time.Now().Add(walked * walkShare); ; {
		select {
		case <-p.over:
			return "", ""
		case <-tick.C:
		}
		free := freeSpace(p.policy.Workspace)
		if free >= 0 && p.limits.FreeDisk >= 0 && free < p.limits.FreeDisk && free < first {
			return toolset.DiskFull, fmt.Sprintf("%d MB were left on the workspace's disk, and %d MB have to stay free", free>>20, p.limits.FreeDisk>>20)
		}
		filling := p.limits.Grown >= 0 && first-free > p.limits.Grown
		if !filling && time.Now().Before(next) {
			continue
		}
		now, took := p.walk()
		next = time.Now().Add(took * walkShare)
		switch {
		case p.limits.Grown >= 0 && now.bytes-base.bytes > p.limits.Grown:
			return toolset.WorkspaceBig, fmt.Sprintf("the workspace grew by %d MB, and %d MB are allowed", (now.bytes-base.bytes)>>20, p.limits.Grown>>20)
		case p.limits.GrownFiles >= 0 && now.files-base.files > p.limits.GrownFiles:
			return toolset.WorkspaceBig, fmt.Sprintf("the workspace grew by %d files, and %d are allowed", now.files-base.files, p.limits.GrownFiles)
		}
	}
}

// walk measures the workspace. What can't be read counts nothing.
func (p *process) walk() (grown, time.Duration) {
	var g grown
	begun := time.Now()
	filepath.WalkDir(p.policy.Workspace, func(_ string, d fs.DirEntry, err error) error {
		select {
		case <-p.over:
			return fs.SkipAll
		default:
		}
		if err != nil {
			return nil
		}
		g.files++
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			g.bytes += allocated(info)
		}
		return nil
	})
	return g, time.Since(begun)
}

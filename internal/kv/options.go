package kv

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
)

const (
	// memTableSize is small since each session makes two files of its size,
	// which cost a page fault each to touch, and large enough that an Update
	// may hold a thousand records. For a process that keeps the store it is no larger:
	// a memtable is memory from its first write, and three may be waiting.
	memTableSize = 8 << 20
	// valueThreshold is the size from which values go to the value log. Larger
	// ones in the tables are rewritten by every merge.
	valueThreshold = 1 << 10
	// logSize bounds one value log; it holds MaxValue. Every log that is there
	// takes an open and a sync of each session. Windows gives a file the room that
	// it may grow to at once, so a short session takes less there.
	logSize        = 128 << 20
	logSizeWindows = 32 << 20
	// mergeTables is how many tables short sessions may leave before one of
	// them merges, and mergeWorth how much there is to rewrite for each one
	// more: a table costs every session 0.1 ms, rewriting a megabyte 10 ms.
	mergeTables = 8
	mergeWorth  = 512 << 10
	// mostTables bounds mergeTables and what mergeWorth adds to it. It is well below
	// level0Stall, and each table costs an opening 0.1 ms.
	mostTables = 40
	// middleLimit is how much may be above the last level before a session that merges
	// pushes it down: the size that Badger gives a base level. Every merge rewrites what is
	// there. A push rewrites the last level, so in a large store the limit is 1/middleShare
	// of that: each byte is pushed at the cost of at most middleShare others, whatever the
	// size of the store.
	middleLimit = 10 << 20
	middleShare = 16
	// A store may have mergeLogs value logs, and one more for each fullLog of
	// values; a session that finds more merges the smallest, up to mergeBytes.
	// A log costs an open and close about 0.08 ms.
	mergeLogs  = 32
	fullLog    = 16 << 20
	mergeBytes = 4 << 20
	// lastLevel is where merged tables end up; Badger has seven levels.
	lastLevel = 6
	// level0Stall is how many unmerged tables block a flush. A session is over
	// before Badger's own compactors start, so only kill -9 gets there, and
	// waiting for them would cost the next command a second.
	level0Stall = 64
)

// badgerOptions are those of a short session, or of a holder.
func (s *Store) badgerOptions(p plan, log *dbLog) badger.Options {
	o := badger.DefaultOptions(s.dir).
		WithLogger(log).
		WithMetricsEnabled(false).
		WithCompression(options.None).
		WithBlockCacheSize(0).
		WithIndexCacheSize(0).
		WithSyncWrites(false). // Sync is explicit, see [Store.UpdateSync]
		WithDetectConflicts(false).
		WithValueThreshold(valueThreshold).
		WithVerifyValueChecksum(true). // else a damaged length in a value log panics
		WithNumCompactors(2).
		WithNumLevelZeroTables(5).
		WithNumLevelZeroTablesStall(level0Stall).
		WithMaxLevels(lastLevel + 1).
		WithMemTableSize(s.memtable).
		WithCompactL0OnClose(p.merge)
	if s.small > 0 {
		return o.WithNumMemtables(3).WithValueLogFileSize(s.small)
	}
	if s.opts.Hold {
		return o.WithNumMemtables(3).WithValueLogFileSize(logSize)
	}
	o = o.WithNumMemtables(2)
	if windows {
		return o.WithValueLogFileSize(logSizeWindows)
	}
	return o.WithValueLogFileSize(logSize)
}

// dbLog is Badger's logger. It says nothing; it keeps what tells that data
// was left out, and the last error for a close that doesn't end.
type dbLog struct {
	merging func() // called before a merge makes the file of a table; may be nil

	mu      sync.Mutex
	damage  string
	lastErr string
}

// Errorf keeps the line.
func (j *dbLog) Errorf(format string, args ...any) {
	line := strings.TrimSpace(fmt.Sprintf(format, args...))
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lastErr = line
	if j.damage == "" && tellsDamage(line) {
		j.damage = line
	}
}

// Warningf keeps lines that tell damage.
func (j *dbLog) Warningf(format string, args ...any) {
	line := strings.TrimSpace(fmt.Sprintf(format, args...))
	if !tellsDamage(line) {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.damage == "" {
		j.damage = line
	}
}

// Infof drops the line.
func (*dbLog) Infof(string, ...any) {}

// Debugf drops the line. Badger calls it in the goroutine that then does what the line
// announces, so a merge can be delayed here.
func (j *dbLog) Debugf(format string, _ ...any) {
	if j.merging != nil && strings.HasPrefix(format, mergingLine) {
		j.merging()
	}
}

// mergingLine begins the line with which Badger logs that it has collected the contents
// of the next table of a merge. It makes the table's file right after it.
const mergingLine = "[%d] LOG Compact. Added"

// damaged gives the first line that told of damage.
func (j *dbLog) damaged() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.damage
}

func (j *dbLog) last() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.lastErr
}

// tellsDamage knows the lines with which Badger goes on without some data.
func tellsDamage(line string) bool {
	return strings.Contains(line, "Ignoring table") || strings.Contains(line, "CHECKSUM_MISMATCH") ||
		strings.Contains(line, "checksum mismatch")
}

// fileIn finds the file that one of Badger's messages names.
func fileIn(err error, otherwise string) string {
	name := regexp.MustCompile(`[^\s"',:=]*(\d+\.(sst|vlog|mem)|MANIFEST|KEYREGISTRY|DISCARD)`)
	if found := name.FindString(err.Error()); found != "" {
		return found
	}
	return otherwise
}

// closeLimit bounds closing a database. Badger retries a flush that fails for
// ever; half a minute is far more than one that works ever needs.
const closeLimit = 30 * time.Second

package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/carryon-go/carryon/cmd/carryon/internal/files"
	"github.com/carryon-go/carryon/internal/recordtable"
	"github.com/carryon-go/carryon/records"
)

// keeper keeps a journal's figures where they survive the process, and where other
// processes add theirs: in a file, or in the shared state.
type keeper struct {
	journal *journal
	table   recordtable.Table[figures]
	shared  bool // in the shared state, whose failures are no reason not to start
	hints   *hints
	failed  bool // the last time, which was logged
}

const (
	keepEvery = 20 * time.Second
	keepTime  = 5 * time.Second      // to read and write them
	keepFor   = 400 * 24 * time.Hour // in the shared state
)

// figuresFormat is the format of kept figures.
var figuresFormat = recordtable.Format{Kind: "figures", Version: 1} //nolint:gochecknoglobals // constant

// newKeeper returns the keeper that c asks for, or nil.
func newKeeper(c *Config, j *journal, state records.Records, h *hints) *keeper {
	engine := state
	if c.Stats != "" {
		engine = &fileRecords{path: c.Stats, hints: h}
	}
	if engine == nil {
		return nil
	}
	return &keeper{journal: j, table: recordtable.Table[figures]{Records: engine, Format: figuresFormat}, shared: c.Stats == "", hints: h}
}

// begin reads what is kept. A file that cannot be used is an error; the shared state may
// be well again later.
func (k *keeper) begin(ctx context.Context) error {
	k.journal.keepFigures()
	err := k.keep(ctx)
	if err != nil && k.shared {
		k.warn(ctx, err)
		return nil
	}
	return err
}

// run keeps the figures again and again until ctx ends, and then once more.
func (k *keeper) run(ctx context.Context) {
	ticker := time.NewTicker(keepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			k.tryKeep(context.WithoutCancel(ctx))
			return
		case <-ticker.C:
			k.tryKeep(ctx)
		}
	}
}

func (k *keeper) tryKeep(ctx context.Context) {
	if !k.journal.wantsKeeping() {
		return
	}
	err := k.keep(ctx)
	switch {
	case err != nil && !k.failed:
		k.warn(ctx, err)
	case err == nil && k.failed:
		k.hints.logger.InfoContext(ctx, "figures are kept again")
	}
	k.failed = err != nil
}

func (k *keeper) warn(ctx context.Context, err error) {
	k.hints.logger.WarnContext(ctx, "figures are not kept", slog.Any("error", err))
}

// keep adds the new figures to what is kept, and takes over those of other processes.
func (k *keeper) keep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	fresh := k.journal.takeUnkept()
	var kept figures
	err := k.table.Update(ctx, "proxy", func(now time.Time, before figures) (figures, time.Duration, error) {
		before.merge(fresh, now)
		kept = before
		return before, keepFor, nil
	})
	if err != nil {
		k.journal.returnUnkept(fresh)
		return err
	}
	k.journal.adopt(&kept)
	return nil
}

// keepFigures makes the journal collect the figures that the keeper stores.
func (j *journal) keepFigures() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.unkept = newFigures(j.own.Began)
}

// wantsKeeping reports whether there is something to keep, or somebody looks at the
// figures, those of other processes too.
func (j *journal) wantsKeeping() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.changed || j.watched
}

func (j *journal) takeUnkept() *figures {
	j.mu.Lock()
	defer j.mu.Unlock()
	fresh := j.unkept
	j.unkept, j.changed, j.watched = newFigures(j.own.Began), false, false
	return fresh
}

// returnUnkept takes back figures that could not be kept.
func (j *journal) returnUnkept(fresh *figures) {
	j.mu.Lock()
	defer j.mu.Unlock()
	fresh.merge(j.unkept, j.config.now())
	j.unkept, j.changed = fresh, true
}

// adopt makes the kept figures, and what has happened since, those that the page shows.
func (j *journal) adopt(kept *figures) {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := j.total
	j.total = kept
	j.total.merge(j.unkept, j.config.now())
	j.revision++
	for id, c := range j.total.Sessions {
		if known := before.Sessions[id]; known.Requests == c.Requests {
			c = known // it also knows what is not kept
		} else {
			c.revision = j.revision
		}
		j.total.Sessions[id] = c
	}
}

// fileRecords is a file with one record, which several processes may change.
type fileRecords struct {
	path  string
	hints *hints
}

// maxStatsFile is how much of a file is read. Figures are far smaller.
const maxStatsFile = 32 << 20

// Update implements [records.Records].
func (f *fileRecords) Update(ctx context.Context, _ string, change records.UpdateFunc) error {
	if err := files.Check(f.path + ".lock"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("-stats: no lock: %w", err)
	}
	lock := flock.New(f.path+".lock", flock.SetFlag(os.O_CREATE|os.O_RDONLY|syscall.O_NONBLOCK))
	if _, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return fmt.Errorf("-stats: no lock: %w", err)
	}
	defer lock.Unlock() //nolint:errcheck // the lock ends with the process at the latest
	old, err := f.read()
	if err != nil {
		return fmt.Errorf("-stats: %w", err)
	}
	next, _, err := change(time.Now(), old)
	if errors.Is(err, records.ErrForeign) {
		if err := f.setAside(ctx, err); err != nil {
			return fmt.Errorf("-stats: %w", err)
		}
		next, _, err = change(time.Now(), nil)
	}
	if err == nil {
		err = f.write(next)
	}
	if err != nil {
		return fmt.Errorf("-stats: %w", err)
	}
	return nil
}

// read returns the record, nil if there is no file. A file that carryon has not written
// is an error: it must not be replaced.
func (f *fileRecords) read() ([]byte, error) {
	content, err := files.Read(f.path, maxStatsFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if begins := []byte("carryon/" + figuresFormat.Kind + "/"); len(content) > 0 && !bytes.HasPrefix(content, begins) {
		return nil, fmt.Errorf("%s has something else in it; name a new file", f.path)
	}
	return content, nil
}

// setAside renames a broken file. It replaces none that was set aside before.
func (f *fileRecords) setAside(ctx context.Context, broken error) error {
	aside := f.path + ".broken"
	for number := 2; ; number++ {
		_, err := os.Lstat(aside)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return err
		}
		aside = fmt.Sprintf("%s.broken-%d", f.path, number)
	}
	f.hints.logger.WarnContext(ctx, "the file of figures is broken, and was set aside", slog.String("file", aside), slog.Any("error", broken))
	f.hints.add(fmt.Sprintf("the figures in %s could not be read: they are now in %s, and counting begins anew", f.path, aside))
	return os.Rename(f.path, aside)
}

// write replaces the file. Whoever reads it meanwhile, or after a crash, sees one record.
func (f *fileRecords) write(record []byte) error {
	file, err := os.CreateTemp(filepath.Dir(f.path), filepath.Base(f.path)+".tmp") // only this user can read it
	if err != nil {
		return err
	}
	_, err = file.Write(record)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // err says why it is of no use
	}
	return err
}

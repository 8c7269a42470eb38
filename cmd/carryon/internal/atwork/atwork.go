// Package atwork remembers where carryon has continued turns. An agent's transcript does not
// show that: a continued turn is one turn there.
package atwork

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/carryon-go/carryon/cmd/carryon/internal/files"
)

// File returns the path of the user's record, or "" if there is no place for it. It is
// below the folder that systems have for such things.
func File(getenv func(string) string, home string) string {
	dir := getenv("XDG_STATE_HOME")
	switch {
	case filepath.IsAbs(dir):
	case runtime.GOOS == "windows" && getenv("LOCALAPPDATA") != "":
		dir = getenv("LOCALAPPDATA")
	case home == "":
		return ""
	default:
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "carryon", "continued.jsonl")
}

// span is a continued call, as a line of the record holds it.
type span struct {
	Sessions []string  `json:"sessions,omitempty"` // hashes of the names that the agent sent; none if it sent none
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
}

// The record is cut to its newer half when it reaches maxFile.
const maxFile = 1 << 20

// Add adds a continued call to the record at path. names are what the agent called its
// session.
func Add(path string, names []string, from, to time.Time) error {
	one := span{From: from.UTC(), To: to.UTC()}
	for _, name := range names {
		one.Sessions = append(one.Sessions, hashOf(name))
	}
	line, err := json.Marshal(one)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := files.Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	info, infoErr := file.Stat()
	if err = errors.Join(err, infoErr, file.Close()); err != nil || info.Size() < maxFile {
		return err
	}
	return halve(path)
}

// halve keeps the newer half of a record.
func halve(path string) error {
	content, err := files.Read(path, 2*maxFile)
	if err != nil {
		return err
	}
	_, newer, _ := bytes.Cut(content[len(content)/2:], []byte("\n"))
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp")
	if err != nil {
		return err
	}
	_, err = file.Write(newer)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // err says why it is of no use
	}
	return err
}

// Continued says which sessions carryon has continued. The zero value says that of none.
type Continued struct {
	sessions map[string]bool // hashes of names
	unnamed  []span
}

// Read reads the record at path. Without one, carryon has continued nothing.
func Read(path string) (Continued, error) {
	c := Continued{sessions: map[string]bool{}}
	content, err := files.Read(path, 2*maxFile)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return c, err
	}
	for line := range bytes.Lines(content) {
		var one span
		if json.Unmarshal(line, &one) != nil {
			continue // cut off by a crash
		}
		for _, hash := range one.Sessions {
			c.sessions[hash] = true
		}
		if len(one.Sessions) == 0 {
			c.unnamed = append(c.unnamed, one)
		}
	}
	return c, nil
}

// Has reports whether carryon has continued a session: one of that name, or, where the
// agent named none, one that was under way at the time.
func (c *Continued) Has(name string, from, to time.Time) bool {
	if name != "" && c.sessions[hashOf(name)] {
		return true
	}
	for i := range c.unnamed {
		if one := &c.unnamed[i]; !from.IsZero() && !one.To.Before(from) && !one.From.After(to) {
			return true
		}
	}
	return false
}

func hashOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:8])
}

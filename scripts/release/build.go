package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// platform is what the command is built for.
type platform struct{ os, arch string }

// platforms returns those of a release.
func platforms() []platform {
	return []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}
}

func (p platform) program() string {
	if p.os == "windows" {
		return "carryon.exe"
	}
	return "carryon"
}

// base returns the name of the platform's files without an extension.
func (p platform) base(version string) string {
	return fmt.Sprintf("carryon_%s_%s_%s", strings.TrimPrefix(version, "v"), p.os, p.arch)
}

func (p platform) archive(version string) string {
	if p.os == "windows" {
		return p.base(version) + ".zip"
	}
	return p.base(version) + ".tar.gz"
}

func (p platform) sbom(version string) string { return p.base(version) + ".cdx.json" }

const checksums = "checksums.txt"

// build makes what is uploaded for the tags of the repository, and checks it.
func (r *release) build(ctx context.Context, dist string) error {
	dist, err := filepath.Abs(dist)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if err := os.MkdirAll(dist, 0o755); err != nil { //nolint:gosec // others may read it
		return err
	}
	notes, err := r.notes()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dist, "notes.md"), []byte(notes), 0o644); err != nil { //nolint:gosec // as above
		return err
	}
	for _, p := range platforms() {
		if err := r.buildFor(ctx, p, dist); err != nil {
			return fmt.Errorf("%s/%s: %w", p.os, p.arch, err)
		}
	}
	if err := writeChecksums(dist); err != nil {
		return err
	}
	return r.verify(ctx, dist)
}

// buildFor installs the command as a user of the platform would, and packs it with its SBOM beside it.
func (r *release) buildFor(ctx context.Context, p platform, dist string) error {
	binary, err := r.install(ctx, p)
	if err != nil {
		return err
	}
	if _, err := output(ctx, r.tools, []string{"GOWORK=off", "CGO_ENABLED=0"}, "go", "tool", "cyclonedx-gomod", "bin", "-json",
		"-output", filepath.Join(dist, p.sbom(r.version)), binary); err != nil {
		return err
	}
	committed, err := output(ctx, r.root, nil, "git", "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(committed)), 10, 64)
	if err != nil {
		return err
	}
	env, err := r.usersEnv(ctx)
	if err != nil {
		return err
	}
	notices, err := r.notices(ctx, p, env)
	if err != nil {
		return err
	}
	noticesPath := filepath.Join(r.work, noticesFile)
	if err := os.WriteFile(noticesPath, []byte(notices), 0o644); err != nil { //nolint:gosec // others may read it
		return err
	}
	files := []packed{
		{p.program(), binary, 0o755},
		{"LICENSE", filepath.Join(r.root, "LICENSE"), 0o644},
		{noticesFile, noticesPath, 0o644},
		{"carryon.service", filepath.Join(r.root, commandDir, "carryon.service"), 0o644},
	}
	return pack(filepath.Join(dist, p.archive(r.version)), files, time.Unix(seconds, 0).UTC())
}

// install runs go install for the platform and returns the path of the binary.
func (r *release) install(ctx context.Context, p platform) (binary string, err error) {
	env, err := r.usersEnv(ctx)
	if err != nil {
		return "", err
	}
	command, err := modulePath(filepath.Join(r.root, commandDir))
	if err != nil {
		return "", err
	}
	env = append(env, "GOOS="+p.os, "GOARCH="+p.arch)
	if _, err := output(ctx, r.work, env, "go", "install", "-trimpath", "-ldflags=-s -w", command+"@"+r.version); err != nil {
		return "", err
	}
	bin := filepath.Join(r.work, "gopath", "bin")
	if p.os != runtime.GOOS || p.arch != runtime.GOARCH {
		bin = filepath.Join(bin, p.os+"_"+p.arch)
	}
	return filepath.Join(bin, p.program()), nil
}

// packed is a file of an archive.
type packed struct {
	name, from string
	mode       os.FileMode
}

// pack writes an archive. The same files make the same bytes.
func pack(file string, files []packed, modified time.Time) (err error) {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if strings.HasSuffix(file, ".zip") {
		return packZip(out, files, modified)
	}
	return packTar(out, files, modified)
}

func packZip(out io.Writer, files []packed, modified time.Time) error {
	w := zip.NewWriter(out)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: modified}
		header.SetMode(f.mode)
		entry, err := w.CreateHeader(header)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(f.from)
		if err != nil {
			return err
		}
		if _, err := entry.Write(text); err != nil {
			return err
		}
	}
	return w.Close()
}

func packTar(out io.Writer, files []packed, modified time.Time) error {
	compressed := gzip.NewWriter(out)
	w := tar.NewWriter(compressed)
	for _, f := range files {
		text, err := os.ReadFile(f.from)
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode), Size: int64(len(text)), ModTime: modified}
		if err := w.WriteHeader(header); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return errors.Join(w.Close(), compressed.Close())
}

// writeChecksums writes a line for each file, as sha256sum does.
func writeChecksums(dist string) error {
	entries, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, entry := range entries {
		if entry.Name() == checksums {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dist, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(text), entry.Name())
	}
	return os.WriteFile(filepath.Join(dist, checksums), []byte(lines.String()), 0o644) //nolint:gosec // others may read it
}

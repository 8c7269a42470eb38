package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// verify checks what build has made, as somebody who downloads it would.
func (r *release) verify(ctx context.Context, dist string) error {
	sums, err := os.ReadFile(filepath.Join(dist, checksums))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		text, err := os.ReadFile(filepath.Join(dist, name))
		if err != nil {
			return err
		}
		if fmt.Sprintf("%x", sha256.Sum256(text)) != sum {
			return fmt.Errorf("%s: %s has another checksum", checksums, name)
		}
	}
	for _, p := range platforms() {
		for _, name := range []string{p.archive(r.version), p.sbom(r.version)} {
			if !bytes.Contains(sums, []byte("  "+name+"\n")) {
				return fmt.Errorf("%s has no %s", checksums, name)
			}
		}
		if err := r.verifyArchive(ctx, p, dist); err != nil {
			return fmt.Errorf("%s: %w", p.archive(r.version), err)
		}
	}
	return nil
}

// verifyArchive checks the program of an archive: what it was built for and from, that its SBOM is complete, and, on its
// own platform, that it says its version.
func (r *release) verifyArchive(ctx context.Context, p platform, dist string) error {
	files, err := unpack(filepath.Join(dist, p.archive(r.version)))
	if err != nil {
		return err
	}
	if len(files["LICENSE"]) == 0 {
		return errors.New("it has no LICENSE")
	}
	program := files[p.program()]
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return err
	}
	if err := r.verifyBuild(p, info); err != nil {
		return err
	}
	if err := r.verifyNotices(string(files[noticesFile]), info); err != nil {
		return err
	}
	if err := verifySBOM(filepath.Join(dist, p.sbom(r.version)), info); err != nil {
		return err
	}
	if p.os == runtime.GOOS && p.arch == runtime.GOARCH {
		return r.verifyVersion(ctx, program)
	}
	return nil
}

// verifyBuild checks what a program says of itself.
func (r *release) verifyBuild(p platform, info *debug.BuildInfo) error {
	settings := make(map[string]string)
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	for key, want := range map[string]string{"GOOS": p.os, "GOARCH": p.arch, "CGO_ENABLED": "0", "-trimpath": "true"} {
		if settings[key] != want {
			return fmt.Errorf("it was built with %s=%s, not %s", key, settings[key], want)
		}
	}
	top, err := modulePath(r.root)
	if err != nil {
		return err
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Replace != nil {
			return fmt.Errorf("%s is replaced", m.Path)
		}
		if (m.Path == top || strings.HasPrefix(m.Path, top+"/")) && m.Version != r.version {
			return fmt.Errorf("it has %s in version %s", m.Path, m.Version)
		}
	}
	return nil
}

// verifySBOM checks that an SBOM names every module of a program.
func verifySBOM(file string, info *debug.BuildInfo) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var sbom struct {
		Metadata struct {
			Component struct{ Name, Version string }
		}
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(text, &sbom); err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	named := map[string]bool{sbom.Metadata.Component.Name + "@" + sbom.Metadata.Component.Version: true}
	for _, c := range sbom.Components {
		named[c.Name+"@"+c.Version] = true
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if !named[m.Path+"@"+m.Version] {
			return fmt.Errorf("%s does not name %s %s", filepath.Base(file), m.Path, m.Version)
		}
	}
	return nil
}

// verifyVersion runs a program.
func (r *release) verifyVersion(ctx context.Context, program []byte) error {
	dir, err := os.MkdirTemp(r.work, "unpacked")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	file := filepath.Join(dir, "carryon")
	if err := os.WriteFile(file, program, 0o755); err != nil { //nolint:gosec // a program
		return err
	}
	said, err := output(ctx, dir, nil, file, "version")
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(said), "carryon "+r.version+" ") {
		return fmt.Errorf("the program says that it is %q", strings.TrimSpace(string(said)))
	}
	return nil
}

// unpack returns the files of an archive.
func unpack(file string) (map[string][]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(file, ".zip") {
		return unpackZip(text)
	}
	return unpackTar(text)
}

func unpackZip(text []byte) (map[string][]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	for _, f := range r.File {
		entry, err := f.Open()
		if err != nil {
			return nil, err
		}
		files[f.Name], err = io.ReadAll(entry)
		if err != nil {
			return nil, err
		}
		if err := entry.Close(); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func unpackTar(text []byte) (map[string][]byte, error) {
	plain, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	r := tar.NewReader(plain)
	files := make(map[string][]byte)
	for {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		files[header.Name], err = io.ReadAll(r)
		if err != nil {
			return nil, err
		}
	}
}

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/carryon-go/carryon/internal/testkit/fakellm"
)

// workplace is where an agent works: a folder that is also its home, and everything else that it can reach.
type workplace struct {
	dir     string
	fill    *strings.Replacer // of the names of places in commands, variables and files
	model   *model
	server  *fakellm.Server // where the model is
	vendors *vendors
}

// newWorkplace makes a workplace with the agent's files. The caller must close it.
func newWorkplace(a agent, r runner) (*workplace, error) {
	dir, err := os.MkdirTemp("", "carryon-agents-")
	if err != nil {
		return nil, err
	}
	m := &model{dir: dir, claims: a.claims}
	turns := make([]fakellm.Turn, 200)
	for i := range turns {
		turns[i] = fakellm.Func(m.respond)
	}
	w := &workplace{dir: dir, model: m, server: fakellm.Start(turns...)}
	w.fill = strings.NewReplacer("{AGENTS}", r.agents, "{HOME}", dir, "{URL}", w.server.URL(), "{ROOT}", strings.TrimSuffix(w.server.URL(), "/v1"))
	w.vendors, err = startVendors(w.server.Handler(), w.certificate(), r.named && !a.company, r.log)
	for name, content := range a.home {
		path := filepath.Join(dir, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(w.fill.Replace(content)), 0o600))
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Close removes the workplace, and ends what the agent has left behind there.
func (w *workplace) Close() {
	w.endLeftovers()
	if w.vendors != nil {
		w.vendors.Close()
	}
	w.server.Close()
	_ = os.RemoveAll(w.dir) // the system's to clean up
}

// filled returns texts with the names of places filled in.
func (w *workplace) filled(texts []string) []string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = w.fill.Replace(text)
	}
	return all
}

// reset removes the files that the agent has written.
func (w *workplace) reset() error {
	for _, f := range files {
		if err := os.Remove(filepath.Join(w.dir, f)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (w *workplace) certificate() string { return filepath.Join(w.dir, "ca.pem") }

// network returns the variables of a user for whom the stand-in is the network: its authority, as a company would name it,
// and where hosts have no addresses its proxy.
func (w *workplace) network() []string {
	certificate := w.certificate()
	variables := make([]string, 0, 10)
	for _, name := range []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "CODEX_CA_CERTIFICATE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"} {
		variables = append(variables, name+"="+certificate)
	}
	if w.vendors.direct != nil {
		return variables
	}
	proxy := w.vendors.URL()
	return append(variables, "HTTPS_PROXY="+proxy, "https_proxy="+proxy, "NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost", "NODE_USE_ENV_PROXY=1")
}

// endLeftovers ends the programs that an agent has installed in its home and left running, where the system can name
// them: Codex leaves a server.
func (w *workplace) endLeftovers() {
	processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is valid
	for _, process := range processes {
		program, err := os.Readlink(filepath.Join(process, "exe"))
		if err != nil || !strings.HasPrefix(program, w.dir+string(filepath.Separator)) {
			continue
		}
		if id, err := strconv.Atoi(filepath.Base(process)); err == nil {
			if p, err := os.FindProcess(id); err == nil {
				_ = p.Kill() // it may have ended
			}
		}
	}
}

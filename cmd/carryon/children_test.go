package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// places are hosts from which children of an agent get what they want: a registry of npm, an index of pip, a proxy of Go
// modules, and a repository of git.
func places(t *testing.T) http.Handler {
	t.Helper()
	files := map[string][]byte{
		"registry.npmjs.org/tea": []byte(`{"name":"tea","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"tea","version":"1.0.0",` +
			`"dist":{"tarball":"https://registry.npmjs.org/tea/-/tea-1.0.0.tgz"}}}}`),
		"registry.npmjs.org/tea/-/tea-1.0.0.tgz":          tarball(t, "package/package.json", `{"name":"tea","version":"1.0.0"}`),
		"pypi.org/simple/tea/":                            []byte(`<a href="https://files.pythonhosted.org/tea-1.0-py3-none-any.whl">tea-1.0-py3-none-any.whl</a>`),
		"files.pythonhosted.org/tea-1.0-py3-none-any.whl": wheel(t),
		"proxy.golang.org/example.com/tea/@v/v1.0.0.info": []byte(`{"Version":"v1.0.0"}`),
		"proxy.golang.org/example.com/tea/@v/v1.0.0.mod":  []byte("module example.com/tea\n"),
		"proxy.golang.org/example.com/tea/@v/v1.0.0.zip":  zipped(t, "example.com/tea@v1.0.0/go.mod", "module example.com/tea\n"),
		"github.com/tea/tea.git/info/refs":                []byte("0123456789012345678901234567890123456789\trefs/heads/main\n"),
		"github.com/tea/tea.git/HEAD":                     []byte("ref: refs/heads/main\n"),
		"files.example.com/":                              []byte("a file\n"), "api.openai.com/": []byte("a host of models\n"),
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := files[r.Host+r.URL.Path]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if strings.HasPrefix(r.Host, "pypi") {
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = w.Write(content)
	})
}

func tarball(t *testing.T, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipping := gzip.NewWriter(&b)
	archive := tar.NewWriter(zipping)
	require.NoError(t, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}))
	_, err := io.WriteString(archive, content)
	require.NoError(t, err)
	require.NoError(t, archive.Close())
	require.NoError(t, zipping.Close())
	return b.Bytes()
}

func zipped(t *testing.T, namesAndContents ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for i := 0; i < len(namesAndContents); i += 2 {
		w, err := archive.Create(namesAndContents[i])
		require.NoError(t, err)
		_, err = io.WriteString(w, namesAndContents[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	return b.Bytes()
}

func wheel(t *testing.T) []byte {
	t.Helper()
	return zipped(t, "tea.py", "", "tea-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tea\nVersion: 1.0\n",
		"tea-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		"tea-1.0.dist-info/RECORD", "tea.py,,\ntea-1.0.dist-info/METADATA,,\ntea-1.0.dist-info/WHEEL,,\ntea-1.0.dist-info/RECORD,,\n")
}

// What an agent starts works in a run as it does alone: through the proxy of its company, with the company's authority.
// What it asks of a host of models is answered.
func TestChildrenInARun(t *testing.T) {
	t.Parallel()
	c := inCompany(t, places(t))
	authority := strings.TrimPrefix(c.variables[2], "SSL_CERT_FILE=")
	c.variables = append(c.variables, "CURL_CA_BUNDLE="+authority, "GIT_SSL_CAINFO="+authority, "PIP_CERT="+authority, "REQUESTS_CA_BUNDLE="+authority,
		"NODE_EXTRA_CA_CERTS="+authority, "npm_config_cafile=", "npm_config_registry=https://registry.npmjs.org/", "npm_config_userconfig=/dev/null",
		"PIP_INDEX_URL=https://pypi.org/simple/", "PIP_CONFIG_FILE=/dev/null", "GOPROXY=https://proxy.golang.org", "GONOSUMDB=*", "GOFLAGS=-modcacherw",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	for name, tt := range map[string]struct{ program, script, want string }{
		"curl":   {"curl", `curl -sS https://files.example.com/ https://api.openai.com/`, "a file\na host of models\n"},
		"python": {"python3", `python3 -c "import urllib.request as u; [print(u.urlopen('https://'+h+'/').read().decode(), end='') for h in ('files.example.com','api.openai.com')]"`, "a file\na host of models\n"},
		"git":    {"git", `git ls-remote https://github.com/tea/tea.git refs/heads/main`, "0123456789012345678901234567890123456789\trefs/heads/main\n"},
		"npm":    {"npm", `npm install --cache "$DIR/cache" --prefix "$DIR" tea >/dev/null && cat "$DIR/node_modules/tea/package.json"`, `{"name":"tea","version":"1.0.0"}`},
		"pip":    {"pip", `pip download -q --no-cache-dir --disable-pip-version-check -d "$DIR" tea && ls "$DIR"`, "tea-1.0-py3-none-any.whl\n"},
		"go":     {"go", `cd "$DIR" && GOMODCACHE="$DIR/mod" go mod download -json example.com/tea@v1.0.0 | grep -c '"Version": "v1.0.0"'`, "1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && name != "curl" {
				t.Skip("starts programs that take their time")
			}
			if _, err := exec.LookPath(tt.program); err != nil {
				t.Skip("there is no " + tt.program)
			}
			script := filepath.Join(t.TempDir(), "script")
			require.NoError(t, os.WriteFile(script, []byte("set -e\nDIR=$1\n"+tt.script+"\n"), 0o600))
			alone := exec.CommandContext(t.Context(), "sh", script, t.TempDir())
			alone.Env = append(os.Environ(), c.variables...)
			var said bytes.Buffer
			alone.Stderr = &said
			got, err := alone.Output()
			require.NoError(t, err, said.String())
			assert.Equal(t, tt.want, string(got), "alone")
			stdout, _ := c.inRun(t, nil, "A=b", "sh", script, t.TempDir())
			assert.Equal(t, tt.want, stdout)
		})
	}
	t.Cleanup(func() { assert.NotEmpty(t, c.reached()) })
}

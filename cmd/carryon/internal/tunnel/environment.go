package tunnel

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// trust is a variable that names a file of authorities.
type trust struct {
	variable string
	adds     bool   // to those that the program knows; else its file stands for all
	instead  string // the variable that the program reads where this one is not set
	onlySet  bool   // it is left alone unless the user has set it
}

// trusts are the variables that make programs accept the authority of a run. Java and
// wget read none; a trust store for Java would be none, because it does not obey the
// constraints of names.
var trusts = []trust{ //nolint:gochecknoglobals // a table
	{variable: "NODE_EXTRA_CA_CERTS", adds: true},
	{variable: "DENO_CERT", adds: true},
	{variable: "CODEX_CA_CERTIFICATE", adds: true, instead: "SSL_CERT_FILE"},
	{variable: "SSL_CERT_FILE"}, // OpenSSL, Go, rustls, .NET
	{variable: "REQUESTS_CA_BUNDLE", instead: "CURL_CA_BUNDLE"},
	{variable: "CURL_CA_BUNDLE", onlySet: true},
	{variable: "GIT_SSL_CAINFO", onlySet: true},
	{variable: "PIP_CERT", onlySet: true},
}

// systemFiles are where systems keep their authorities in one file.
var systemFiles = []string{ //nolint:gochecknoglobals // constant
	"/etc/ssl/certs/ca-certificates.crt",                // Debian, Ubuntu, Arch
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", // Fedora, RHEL
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem", // openSUSE
	"/etc/ssl/cert.pem",      // Alpine, macOS
	"/usr/local/share/certs/ca-root-nss.crt",
}

// Roots returns who may vouch for a host of models: those whom the system trusts, and
// those whom the environment names. It returns nil for the system's alone.
func Roots(getenv func(string) string) *x509.CertPool {
	var named []byte //nolint:prealloc // most environments name none
	for _, t := range trusts {
		named = append(named, certificatesOf(getenv(t.variable))...)
	}
	if len(named) == 0 {
		return nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	pool.AppendCertsFromPEM(named)
	return pool
}

// certificatesOf returns the certificates in a file, and nothing else that may stand
// there. A file that cannot be read has none.
func certificatesOf(path string) []byte {
	info, err := os.Stat(path)
	if path == "" || err != nil || !info.Mode().IsRegular() || info.Size() > maxBundle {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var all bytes.Buffer
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if strings.HasSuffix(block.Type, "CERTIFICATE") {
			_ = pem.Encode(&all, block) // a buffer never fails
		}
	}
	return all.Bytes()
}

// maxBundle is the size of the largest file of authorities that is read.
const maxBundle = 16 << 20

// Environment returns the variables with which a command, and what it starts, uses the
// tunnel. It writes files of certificates into dir, which is the run's own.
func (t *Tunnel) Environment(getenv func(string) string, dir string) (map[string]string, error) {
	env := map[string]string{"HTTPS_PROXY": t.URL(), "https_proxy": t.URL()}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		env[name] = withLocal(getenv, name)
	}
	files := make(map[string]string) // by content
	for _, trust := range trusts {
		known, ok := trust.known(getenv)
		if !ok {
			continue
		}
		content := string(slices.Concat(known, t.authority.pem()))
		if files[content] == "" {
			path := filepath.Join(dir, strings.ToLower(trust.variable)+".pem")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				return nil, err
			}
			files[content] = path
		}
		env[trust.variable] = files[content]
	}
	return env, nil
}

// known returns the authorities that a program trusts without carryon, as far as its
// file must name them. It reports false if the variable must stay as it is.
func (t *trust) known(getenv func(string) string) ([]byte, bool) {
	path := getenv(t.variable)
	if path == "" && t.onlySet {
		return nil, false
	}
	if path == "" && t.instead != "" {
		path = getenv(t.instead)
	}
	switch {
	case path == "" && t.adds:
		return nil, true
	case path == "": // what stands for all must not leave out the system's
		for _, file := range systemFiles {
			if known := certificatesOf(file); known != nil {
				return known, true
			}
		}
		return nil, false
	}
	known := certificatesOf(path)
	return known, known != nil || t.adds // else it is a folder, say
}

// withLocal returns the value of a variable for hosts that need no proxy, with the names
// of this machine: services on it know nothing of the run.
func withLocal(getenv func(string) string, name string) string {
	value := getenv(name)
	if value == "" {
		value = getenv(map[string]string{"NO_PROXY": "no_proxy", "no_proxy": "NO_PROXY"}[name])
	}
	list := strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
	for _, host := range []string{"localhost", "127.0.0.1", "::1"} {
		if !slices.Contains(list, host) {
			list = append(list, host)
		}
	}
	return strings.Join(list, ",")
}

// Bypassed reports whether the environment keeps requests to a host away from proxies,
// and so from the tunnel.
func Bypassed(getenv func(string) string, host string) bool {
	via, err := Proxies(func(name string) string {
		if strings.EqualFold(name, "HTTPS_PROXY") {
			return "http://127.0.0.1"
		}
		return getenv(name)
	})(urlOf(host))
	return err == nil && via == nil
}

package servertest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// prometheusConfig scrapes one target, often enough for a test.
const prometheusConfig = `global: {scrape_interval: 500ms, scrape_timeout: 500ms}
scrape_configs: [{job_name: test, static_configs: [{targets: [%q]}]}]
`

// StartPrometheus starts a Prometheus that scrapes /metrics at an address, as
// job "test". The test is skipped if Prometheus is not installed.
func StartPrometheus(tb testing.TB, target string) *Server {
	tb.Helper()
	program := find(tb, []string{"prometheus"}, []string{"/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"})
	if program == "" {
		missing(tb, "prometheus")
	}
	dir := tb.TempDir()
	config := filepath.Join(dir, "prometheus.yml")
	require.NoError(tb, os.WriteFile(config, fmt.Appendf(nil, prometheusConfig, target), 0o600))
	s := start(tb, exec.CommandContext(context.WithoutCancel(tb.Context()), program, //nolint:gosec // as found
		"--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address=127.0.0.1:0"))
	s.waitFor(tb, func(ctx context.Context) error {
		address := regexp.MustCompile(`msg="Listening on" address=(\S+)`).FindStringSubmatch(s.output.String())
		if address == nil {
			return fmt.Errorf("%s does not listen", program)
		}
		s.URL = "http://" + address[1]
		return ready(ctx, s.URL+"/-/ready")
	})
	return s
}

// ready asks for a page that answers 200 once a server is ready.
func ready(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // so that no connection outlives the test
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it has served
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}

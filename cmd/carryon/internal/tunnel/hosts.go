package tunnel

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// secure is the port of HTTPS.
const secure = 443

// Hosts is a set of hosts of models, each with a port. The zero value is empty.
type Hosts struct {
	exact map[string]bool // host:port
	below map[string]bool // the same without the "*." before it: every host below it
}

// Add adds a host: "api.example.com", "*.example.com" for all below it, either with a port
// or without one, which stands for that of HTTPS.
func (h *Hosts) Add(pattern string) error {
	name, port := pattern, secure
	if before, after, ok := strings.Cut(pattern, ":"); ok {
		number, err := parsePort(after)
		if err != nil {
			return fmt.Errorf("%q has no valid port", pattern)
		}
		name, port = before, number
	}
	name, all := strings.CutPrefix(name, "*.")
	name, err := parseName(name)
	if err == nil && all && !strings.Contains(name, ".") {
		err = fmt.Errorf("*.%s stands for too many hosts", name)
	}
	if _, isAddress := netip.ParseAddr(name); err == nil && isAddress == nil {
		err = fmt.Errorf("%s is an address, for which carryon issues no certificate", name)
	}
	if err != nil {
		return err
	}
	if h.exact == nil {
		h.exact, h.below = make(map[string]bool), make(map[string]bool)
	}
	set := h.exact
	if all {
		set = h.below
	}
	set[join(name, port)] = true
	return nil
}

// Has reports whether a host, in lower case, is one of the set.
func (h *Hosts) Has(name string, port int) bool {
	if h.exact[join(name, port)] {
		return true
	}
	for rest, found := name, true; found; {
		if _, rest, found = strings.Cut(rest, "."); found && h.below[join(rest, port)] {
			return true
		}
	}
	return false
}

// names returns the names that the certificates of the hosts are for, or lie below.
func (h *Hosts) names() []string {
	all := make(map[string]bool)
	for _, set := range []map[string]bool{h.exact, h.below} {
		for host := range set {
			name, _, _ := strings.Cut(host, ":")
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

func join(name string, port int) string { return net.JoinHostPort(name, strconv.Itoa(port)) }

// parseTarget reads what a client wants to be connected to: a name or an address, and a
// port. Names become lower case and lose their final dot.
func parseTarget(target string) (name string, port int, err error) {
	host, text, err := net.SplitHostPort(target)
	if err != nil {
		return "", 0, fmt.Errorf("%.100q is no host with a port", target)
	}
	if port, err = parsePort(text); err != nil {
		return "", 0, fmt.Errorf("%.100q is no port", text)
	}
	if address, err := netip.ParseAddr(host); err == nil {
		return address.String(), port, nil
	}
	name, err = parseName(host)
	return name, port, err
}

func parsePort(text string) (int, error) {
	port, err := strconv.ParseUint(text, 10, 16)
	if err == nil && port == 0 {
		err = strconv.ErrRange
	}
	return int(port), err //nolint:gosec // 16 bits
}

// maxHost is the length of the longest name that DNS knows.
const maxHost = 253

// parseName checks that a host's name has no letters but those of DNS, and returns it in
// lower case.
func parseName(host string) (string, error) {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	isOdd := func(r rune) bool {
		return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	}
	if name == "" || len(name) > maxHost || strings.HasPrefix(name, ".") || strings.Contains(name, "..") || strings.ContainsFunc(name, isOdd) {
		return "", fmt.Errorf("%.100q is no name of a host", host)
	}
	return name, nil
}

package tunnel

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
)

// lifetime is how long the certificates of a run are valid. They are worth nothing after
// the run, because its key has never left the memory; but a run may last for weeks, and
// a program reads the authority's certificate once.
const lifetime = 30 * 24 * time.Hour

// skew is by how much a clock may be late.
const skew = time.Hour

// maxLeaves is how many certificates of hosts are remembered. A pattern stands for any
// number of hosts.
const maxLeaves = 1000

// authority issues the certificates of a run. Its key, which is also that of every
// certificate, exists in memory alone. No certificate of another host counts: the
// authority's own says for which names it stands, and clients must obey.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate

	mu     sync.Mutex
	leaves map[string]*tls.Certificate // by host
}

// newAuthority returns an authority for these names and those below them. The run's name
// is in its certificate, for those who come across it.
func newAuthority(run string, names []string, now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "carryon, for one run: " + run},
		NotBefore: now.Add(-skew), NotAfter: now.Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: names,
		ExcludedIPRanges: []*net.IPNet{
			{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}, {IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)},
		},
	}
	a := &authority{key: key, leaves: make(map[string]*tls.Certificate)}
	der, err := a.sign(template, template)
	if err != nil {
		return nil, err
	}
	a.cert, err = x509.ParseCertificate(der)
	return a, err
}

// sign signs a certificate with a serial number that no other has: clients refuse two of
// one issuer that share theirs.
func (a *authority) sign(template, issuer *x509.Certificate) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	return x509.CreateCertificate(rand.Reader, template, issuer, &a.key.PublicKey, a.key)
}

// pem returns the authority's certificate.
func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// leaf returns the certificate of a host.
func (a *authority) leaf(host string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if known := a.leaves[host]; known != nil {
		return known, nil
	}
	der, err := a.sign(&x509.Certificate{
		DNSNames: []string{host}, NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, a.cert)
	if err != nil {
		return nil, fmt.Errorf("certificate of %s: %w", host, err)
	}
	parsed, err := x509.ParseCertificate(der) // else each handshake parses it
	if err != nil {
		return nil, err
	}
	if len(a.leaves) >= maxLeaves {
		clear(a.leaves)
	}
	leaf := &tls.Certificate{Certificate: [][]byte{der, a.cert.Raw}, PrivateKey: a.key, Leaf: parsed}
	a.leaves[host] = leaf
	return leaf, nil
}

package redis

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Open returns a store on the server of the URL. The forms are those of go-redis:
//
//	redis://user:password@host:6379/0      one server; rediss:// with TLS, unix:// for a socket
//	redis+cluster://host:6379?addr=host2:6379
//	redis+sentinel://host:26379/0?master_name=main&addr=host2:26379
//
// and rediss+cluster, rediss+sentinel with TLS. Options of the client, such as
// pool_size, dial_timeout and read_timeout, may follow as parameters. Open does not
// connect; [Engine.Ping] does. Close the store when it is not needed any more.
func Open(rawURL string) (*Engine, error) {
	client, err := open(rawURL)
	if err != nil {
		return nil, withoutPassword(err)
	}
	s := New(client)
	s.close = client.Close
	return s, nil
}

func open(rawURL string) (redis.UniversalClient, error) {
	scheme, rest, _ := strings.Cut(rawURL, "://")
	scheme, kind, _ := strings.Cut(scheme, "+")
	rawURL = scheme + "://" + rest
	switch kind {
	case "":
		return openServer(rawURL)
	case "cluster":
		return openCluster(rawURL)
	case "sentinel":
		return openSentinel(rawURL)
	default:
		return nil, fmt.Errorf("redis: there is no %q to connect to, only a cluster or a sentinel", kind)
	}
}

func openServer(rawURL string) (redis.UniversalClient, error) {
	o, err := redis.ParseURL(rawURL)
	if err != nil {
		return nil, err
	}
	failSoon(&o.ContextTimeoutEnabled, &o.MaxRetries, &o.DialerRetries)
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return redis.NewClient(o), nil
}

func openCluster(rawURL string) (redis.UniversalClient, error) {
	o, err := redis.ParseClusterURL(rawURL)
	if err != nil {
		return nil, err
	}
	failSoon(&o.ContextTimeoutEnabled, &o.MaxRetries, &o.DialerRetries)
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return redis.NewClusterClient(o), nil
}

func openSentinel(rawURL string) (redis.UniversalClient, error) {
	o, err := redis.ParseFailoverURL(rawURL)
	if err != nil {
		return nil, err
	}
	if o.MasterName == "" {
		return nil, errors.New("redis: the URL of a sentinel needs the parameter master_name")
	}
	failSoon(&o.ContextTimeoutEnabled, &o.MaxRetries, &o.DialerRetries)
	return redis.NewFailoverClient(o), nil
}

// failSoon has a client report what is wrong instead of trying for seconds, as
// long as the URL does not say otherwise: the caller's answer waits meanwhile. One
// retry is for connections that the server has closed.
func failSoon(honourContext *bool, retries, dialRetries *int) {
	*honourContext = true
	if *retries == 0 {
		*retries = 1
	}
	if *dialRetries == 0 {
		*dialRetries = 1
	}
}

// withoutPassword takes the URL out of an error that quotes it.
func withoutPassword(err error) error {
	var bad *url.Error
	if errors.As(err, &bad) {
		return fmt.Errorf("redis: the URL cannot be read: %w", bad.Err)
	}
	return err
}

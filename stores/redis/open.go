package redis

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Open returns an engine for the server at a URL in one of go-redis's forms:
//
//	redis://user:password@host:6379/0      one server; rediss:// with TLS, unix:// for a socket
//	redis+cluster://host:6379?addr=host2:6379
//	redis+sentinel://host:26379/0?master_name=main&addr=host2:26379
//
// The schemes rediss+cluster and rediss+sentinel use TLS. The URL may have client
// options as parameters, such as pool_size, dial_timeout and read_timeout. Open does
// not connect; [Engine.Ping] does. Close the engine when you no longer need it.
func Open(rawURL string) (*Engine, error) {
	client, err := open(rawURL)
	if err != nil {
		return nil, withoutPassword(err)
	}
	s, err := New(client)
	if err != nil {
		return nil, err
	}
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
		return nil, fmt.Errorf("redis: unknown kind of server %q: use cluster or sentinel", kind)
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

// failSoon makes a client return errors early instead of retrying for seconds,
// because the caller's answer waits meanwhile. Retries set in the URL stay. One
// retry covers connections that the server has closed.
func failSoon(honourContext *bool, retries, dialRetries *int) {
	*honourContext = true
	if *retries == 0 {
		*retries = 1
	}
	if *dialRetries == 0 {
		*dialRetries = 1
	}
}

// withoutPassword removes the URL, which may contain a password, from an error.
func withoutPassword(err error) error {
	var bad *url.Error
	if errors.As(err, &bad) {
		return fmt.Errorf("redis: the URL cannot be read: %w", bad.Err)
	}
	return err
}

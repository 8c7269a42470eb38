package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carryon-go/carryon/records"
)

// DefaultTable is the table that records are kept in unless [WithTable] names
// another.
const DefaultTable = "carryon_records"

// Engine keeps records in a table. It is safe for concurrent use. Use [Open], [New]
// or [TryNew]: the zero value is not ready.
type Engine struct {
	*records.Swapping

	pool  *pgxpool.Pool
	table string // with its schema, if it has one
	close func()
	sql   statements
}

var (
	_ records.Records  = (*Engine)(nil)
	_ records.Swapper  = (*Engine)(nil)
	_ records.Notifier = (*Engine)(nil)
)

// Option configures an [Engine].
type Option func(*options)

type options struct {
	table string
	err   error // of the options that are refused
}

var validTable = regexp.MustCompile(`^([a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,62}$`)

// WithTable keeps the records in another table than [DefaultTable]. The name, and
// that of a schema before it, consist of small letters, digits and underscores.
func WithTable(name string) Option {
	return func(o *options) {
		if o.table = name; !validTable.MatchString(name) {
			o.err = errors.Join(o.err,
				fmt.Errorf("postgres: WithTable: %q is no name for a table (small letters, digits, underscores)", name))
		}
	}
}

// Open returns a store on the database of the URL, in the form of libpq's, with
// the parameters of pgxpool, such as pool_max_conns. It does not connect;
// [Engine.Ping] does. Close the store when it is not needed any more.
func Open(ctx context.Context, url string, opts ...Option) (*Engine, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("postgres: %w", err)
	}
	s, err := TryNew(pool, opts...)
	if err != nil {
		pool.Close()
		return nil, err
	}
	s.close = pool.Close
	return s, nil
}

// New returns a store on a pool that the program owns and closes. It
// panics where [TryNew] fails.
func New(pool *pgxpool.Pool, opts ...Option) *Engine {
	s, err := TryNew(pool, opts...)
	if err != nil {
		panic("carryon/stores/" + err.Error())
	}
	return s
}

// TryNew is [New] for options that come from a configuration: it fails if pool is nil
// or an option is not valid. It does not connect.
func TryNew(pool *pgxpool.Pool, opts ...Option) (*Engine, error) {
	if pool == nil {
		return nil, errors.New("postgres: nil pool")
	}
	o := options{table: DefaultTable}
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if o.err != nil {
		return nil, o.err
	}
	s := &Engine{pool: pool, table: o.table, close: func() {}, sql: statementsFor(o.table)}
	s.Swapping = records.NewSwapping(s)
	return s, nil
}

// Ping asks the server for a sign of life. A program may do so when it starts,
// to report a wrong URL or password at once.
func (s *Engine) Ping(ctx context.Context) error { return wrap(s.pool.Ping(ctx)) }

// Close closes the connections that [Open] has opened, once nobody uses them. It
// leaves a pool that was handed to [New] alone. It returns nil.
func (s *Engine) Close() error {
	s.close()
	return nil
}

// Swap implements [records.Swapper].
func (s *Engine) Swap(ctx context.Context, key string, swap records.Swap) (records.Snapshot, bool, error) {
	now, swapped, err := s.sql.swap(ctx, s.pool, key, swap)
	var failed *pgconn.PgError
	if errors.As(err, &failed) && (failed.Code == serializationFailure || failed.Code == deadlock) {
		// Another change came first, and the isolation level of the database asks for another look.
		now, _, err = s.sql.swap(ctx, s.pool, key, records.Swap{})
	}
	return now, swapped, wrap(err)
}

// InTx returns the engine as part of a transaction of the program's: what it
// changes is there once the transaction is committed, and never if it is rolled
// back. It is for the end of a job whose own changes are in the same transaction;
// see the function FinishIn of carryon/asynctask/job.
//
// A record that was changed is locked until the transaction ends, so that it
// should be changed last. The engine serves no longer than tx does.
func (s *Engine) InTx(tx pgx.Tx) records.Records { return records.NewSwapping(&inTx{tx, s.sql}) }

// inTx is an engine in a transaction.
type inTx struct {
	tx  pgx.Tx
	sql statements
}

// Swap implements [records.Swapper].
func (e *inTx) Swap(ctx context.Context, key string, swap records.Swap) (records.Snapshot, bool, error) {
	now, swapped, err := e.sql.swap(ctx, e.tx, key, swap)
	return now, swapped, wrap(err)
}

const (
	serializationFailure = "40001"
	deadlock             = "40P01"
)

// asked is what a statement is sent to.
type asked interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// swap is one statement. What it answers with is what was there before it.
func (s *statements) swap(ctx context.Context, to asked, key string, swap records.Swap) (now records.Snapshot, swapped bool, err error) {
	expected, err := revisionOf(swap.Revision)
	if err != nil {
		return now, false, err
	}
	next := rand.Int64() //nolint:gosec // it tells changes apart, and guards nothing
	sql, args := s.look, []any{[]byte(key), expected}
	switch {
	case swap.Action == records.Renew:
		sql, args = s.renew, append(args, interval(swap.Keep), interval(swap.Keep/2))
	case swap.Action == records.Remove:
		sql = s.remove
	case swap.Action == records.Replace && expected == nil:
		sql, args = s.insert, append(args, next, swap.Record, interval(swap.Keep))
	case swap.Action == records.Replace:
		sql, args = s.update, append(args, next, swap.Record, interval(swap.Keep))
	}
	var found *int64
	err = to.QueryRow(ctx, sql, args...).Scan(&swapped, &now.Now, &found, &now.Record)
	switch {
	case err != nil:
		return records.Snapshot{}, false, err
	case swapped && swap.Action == records.Replace:
		now.Revision = strconv.FormatInt(next, 10)
	case found != nil:
		now.Revision = strconv.FormatInt(*found, 10)
	}
	return now, swapped, nil
}

// revisionOf returns a revision as the table has it, nil for none.
func revisionOf(revision string) (*int64, error) {
	if revision == "" {
		return nil, nil //nolint:nilnil // SQL's null
	}
	n, err := strconv.ParseInt(revision, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("postgres: not a revision of this store's: %w", err)
	}
	return &n, nil
}

// interval returns a time to keep a record, nil for good.
func interval(keep time.Duration) *time.Duration {
	if keep < 0 {
		return nil
	}
	return &keep
}

// wrap names the package in an error of the client or the server.
func wrap(err error) error {
	var failed *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed) && failed.Code == undefinedTable:
		return fmt.Errorf("postgres: %w (Engine.CreateTable makes the table)", err)
	default:
		return fmt.Errorf("postgres: %w", err)
	}
}

const undefinedTable = "42P01"

// inTransaction runs f in a transaction.
func (s *Engine) inTransaction(ctx context.Context, f func(pgx.Tx) error) error {
	return wrap(pgx.BeginFunc(ctx, s.pool, f))
}

-- Changes a record if it has the expected revision.
-- KEYS: the key. ARGV: the expected revision, '' for no record; the action;
-- milliseconds to keep the record, '0' for no limit; the new record, which begins
-- with its revision. Returns 1 if the record had the expected revision, 0 otherwise;
-- the server's time as two values; and for 0 the current record.
local key, revision, action, keep, record = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local time = redis.call('TIME')
local found = redis.call('GETRANGE', key, 0, 11)
if found == '' and redis.call('EXISTS', key) == 1 then
	found = 'empty' -- another program's value
end
if found ~= revision then
	if action == 'replace' and found == string.sub(record, 1, 12) then
		return {1, time[1], time[2]} -- the client has sent this change twice
	end
	return {0, time[1], time[2], redis.call('GET', key)}
end
if action == 'replace' then
	if keep == '0' then
		redis.call('SET', key, record)
	else
		redis.call('SET', key, record, 'PX', keep)
	end
elseif action == 'remove' then
	redis.call('DEL', key)
elseif action == 'renew' then
	if keep == '0' then
		redis.call('PERSIST', key)
	else
		redis.call('PEXPIRE', key, keep)
	end
end
return {1, time[1], time[2]}

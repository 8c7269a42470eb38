-- Changes a record if it has the expected revision.
-- KEYS: the key. ARGV: the revision, or ''; the action; milliseconds to keep
-- the record, or '0' for good; the next record with its own revision.
-- Returns whether it had the revision, the time, and if not, the record as it is.
local key, revision, action, keep, record = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local time = redis.call('TIME')
local found = redis.call('GETRANGE', key, 0, 11)
if found == '' and redis.call('EXISTS', key) == 1 then
	found = 'empty' -- somebody else's
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

# What works for Holdpoint inside a Ruby program, beside the debugger that Ruby brings along (`debug`, 1.4 and
# later). That one waits for whoever dials it; here it dials Holdpoint, which started the program. And what it
# says in its protocol is mended where it is not so: breakpoints that are gone, lines that were moved, exceptions
# that are answered as values, and exceptions that nothing rescues.

module HoldpointInside
  # What an expression threw.
  class Failed
    def initialize(error) = @error = error
    def inspect = "#{@error.class}: #{@error.message}"
  end

  # An expression that took too long.
  class Late
    def initialize(seconds) = @seconds = seconds
    def inspect = "it was not done after #{@seconds} s and was interrupted"
  end

  class Expired < Exception; end # rubocop:disable Lint/InheritException

  # What is mended, as the protocol announces it.
  CAN = {
    supportsExceptionInfoRequest: true, supportsFunctionBreakpoints: false, supportsStepBack: false,
    supportsHitConditionalBreakpoints: false, supportsLogPoints: false,
    exceptionBreakpointFilters: [
      { filter: 'any', label: 'wherever one is raised' },
      { filter: 'uncaught', label: 'that nothing rescues' }
    ]
  }.freeze

  # Whoever dials is answered at once, and has to find everything in its place.
  READY = Queue.new

  # What is evaluated now. No lock is to be had in a signal's handler, where a pause stands.
  JOBS = Queue.new
  Job = Struct.new(:thread, :deadline, :claim)

  # What listens no longer.
  RETIRED = Queue.new
  RUNS = 0.05

  # How often it is looked whether it takes too long.
  TICK = 0.02

  @numbers = {}
  @next = 0

  class << self
    attr_accessor :ui, :exception, :uncaught

    # Evaluates for a debugger: what is thrown and what does not end is told apart from every value.
    def try(seconds)
      Thread.handle_interrupt(Expired => :never) do
        job = begun(seconds)
        is_late = false
        begin
          unstopped { Thread.handle_interrupt(Expired => :immediate) { yield } }
        rescue Expired
          is_late = true
          raise
        ensure
          ended(job) unless is_late
        end
      end
    rescue Expired
      Late.new(seconds)
    rescue Exception => error # rubocop:disable Lint/RescueException
      Failed.new(error)
    end

    # What is evaluated for a debugger does not stop at breakpoints, which the debugger could not tell.
    def unstopped
      client = DEBUGGER__::ThreadClient.current
      before = client.management?
      client.instance_variable_set(:@is_management, true)
      Thread.current[:holdpoint_trying] = true
      yield
    ensure
      Thread.current[:holdpoint_trying] = before
      client.instance_variable_set(:@is_management, before)
    end

    # Ends what takes too long. It is a thread of the debugger's own: all others stand while it evaluates.
    def watch
      Thread.new do
        Thread.current.name = 'holdpoint'
        DEBUGGER__::ThreadClient.current.mark_as_management
        loop { expire(JOBS.pop) }
      end
    end

    def retire
      Thread.new do
        Thread.current.name = 'holdpoint retired'
        DEBUGGER__::ThreadClient.current.mark_as_management
        loop do
          point = RETIRED.pop
          sleep RUNS
          sleep RUNS while session.in_subsession?
          point.disable
        end
      end
    end

    def begun(seconds)
      job = Job.new(Thread.current, now + seconds, Queue.new)
      job.claim << true
      JOBS << job
      job
    end

    # From here on it is not interrupted any more, unless it is being so already.
    def ended(job)
      Thread.handle_interrupt(Expired => :immediate) { sleep } unless claimed?(job)
    end

    def expire(job)
      sleep(TICK.clamp(0, [job.deadline - now, 0].max)) until job.claim.empty? || now >= job.deadline
      job.thread.raise(Expired) if claimed?(job)
    end

    # Whoever takes it first decides.
    def claimed?(job)
      job.claim.pop(true)
    rescue ThreadError
      false
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def session = DEBUGGER__::SESSION

    def points = session.instance_variable_get(:@bps)

    # Replaces the breakpoints of a file, and tells where each has come to lie.
    def set_lines(arguments)
      path = File.realpath(arguments.dig('source', 'path'))
      remove { |bp| bp.is_a?(DEBUGGER__::LineBreakpoint) && bp.path == path && !bp.oneshot? }
      arguments.fetch('breakpoints', []).map do |wanted|
        bp = DEBUGGER__::LineBreakpoint.new(path, wanted['line'])
        session.add_bp(bp)
        @numbers[bp] = (@next += 1)
        describe(bp)
      end
    rescue Errno::ENOENT => error
      arguments.fetch('breakpoints', []).map { { verified: false, message: error.message } }
    end

    def describe(bp)
      told = { id: @numbers[bp], verified: !bp.iseq.nil?, line: bp.line, source: { path: bp.path } }
      told[:message] = 'its file is not loaded yet' unless bp.iseq
      told
    end

    # Those whose file was loaded just now.
    def bound(before)
      @numbers.each_key do |bp|
        ui.send_event('breakpoint', reason: 'changed', breakpoint: describe(bp)) if before.include?(bp) && bp.iseq
      end
    end

    def pending = @numbers.keys.reject { |bp| bp.iseq || bp.deleted? }

    def remove
      points.delete_if do |_, bp|
        next false unless yield bp

        @numbers.delete(bp)
        bp.delete
        true
      end
    end

    def set_exceptions(arguments)
      wanted = arguments.fetch('filters', [])
      self.uncaught = wanted.include?('uncaught')
      uncaught ? @raised.enable : @raised.disable
      remove { |bp| bp.is_a?(DEBUGGER__::CatchBreakpoint) }
      session.add_catch_breakpoint('Exception') if wanted.include?('any')
      wanted.map { { verified: true } }
    end

    def exception_info
      error = exception or return
      causes = []
      cause = error.cause
      while cause && causes.size < 5
        causes << "caused by #{cause.class}: #{cause.message}"
        cause = cause.cause
      end
      trace = [*error.backtrace, *causes].join("\n")
      {
        exceptionId: error.class.to_s, description: error.message, breakMode: 'always',
        details: { message: error.message, typeName: error.class.to_s, stackTrace: trace }
      }
    end

    # Nothing of ours is to stop a program that we have let go.
    def clear
      remove { true }
      self.uncaught = false
      @raised.disable
    end

    def said(error) = "#{error.class}: #{error.message}"

    # Keeps the frames of an exception: when it is known that nothing rescues it, they are gone.
    def note_frames
      folder = File.dirname(DEBUGGER__.method(:start).source_location.first)
      @raised = TracePoint.new(:raise) do |tp|
        error = tp.raised_exception
        next if error.is_a?(SystemExit) || error.frozen? || Thread.current[:holdpoint_trying]

        frames = DEBUGGER__.capture_frames(folder)
        frames.delete_if { |frame| frame.path == __FILE__ }
        error.instance_variable_set(:@__debugger_postmortem_frames, frames)
      end
    end

    def at_the_end
      error = $!
      return if error.nil? || !uncaught || error.is_a?(SystemExit) || error.is_a?(SignalException)

      self.exception = error
      session.enter_postmortem_session(error)
    end
  end

  # The debugger's own server, turned around.
  module Dialling
    def self.new_ui(port)
      ui = Class.new(DEBUGGER__::UI_ServerBase) do
        define_method(:accept) do |&block|
          super(&block)
          READY.pop
          socket = TCPSocket.new('127.0.0.1', port)
          socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
          begin
            @sock_for_fork = socket
            block.call(socket)
          ensure
            socket.close unless socket.closed?
            @sock_for_fork = nil
          end
        end
        # It would stop the program wherever it is when somebody connects.
        def pause; end
      end
      ui.new
    end
  end

  # What is answered in the debugger's place.
  def self.mend(ui)
    class << ui
      def send_response(req, success: true, message: nil, **kw)
        kw = kw.merge(HoldpointInside::CAN) if req['command'] == 'initialize'
        super(req, success: success, message: message, **kw)
      end

      # Whoever debugged it may be gone at any moment, and the program is not to end for that.
      def send(**message)
        super
      rescue IOError, SystemCallError
        nil
      rescue NoMethodError
        # Its socket was taken away in this moment; anything else is a fault to be seen.
        raise if @sock
      end

      def readline(_prompt)
        @q_msg&.pop || 'continue'
      end

      def heard
        yield
      rescue IOError, SystemCallError
        nil
      end

      def recv_request
        while (req = heard { super() })
          arguments = req['arguments'] || {}
          case req['command']
          when 'setBreakpoints'
            send_response(req, breakpoints: HoldpointInside.set_lines(arguments))
          when 'setExceptionBreakpoints'
            send_response(req, breakpoints: HoldpointInside.set_exceptions(arguments))
          when 'exceptionInfo'
            info = HoldpointInside.exception_info
            info ? send_response(req, **info) : send_response(req, success: false, message: 'no exception is raised')
          when 'disconnect'
            HoldpointInside.clear
            return req
          else
            return req
          end
        end
        # Whoever debugged it is gone: it runs on, and nothing of ours stops it.
        HoldpointInside.clear
        @q_msg << 'continue' if HoldpointInside.session.in_subsession?
        req
      end

      def event(type, *args)
        case type
        when :suspend_bp
          _, bp, thread = args
          return stopped('entry', nil, thread) if bp.nil?
          return super unless bp.is_a?(DEBUGGER__::CatchBreakpoint)

          HoldpointInside.exception = bp.last_exc
          stopped('exception', HoldpointInside.said(bp.last_exc), thread)
        when :suspended
          return super unless HoldpointInside.session.instance_variable_get(:@postmortem)

          stopped('exception', HoldpointInside.said(HoldpointInside.exception), args.first)
        else
          super
        end
      end

      def stopped(reason, text, thread)
        body = { reason: reason, threadId: thread, allThreadsStopped: true }
        body[:text] = text if text
        send_event('stopped', **body)
      end
    end
    HoldpointInside.ui = ui
  end

  # Files that are loaded, and breakpoints that were waiting for them.
  module Loading
    def on_load(*args)
      before = HoldpointInside.pending
      super
      HoldpointInside.bound(before) unless before.empty?
    end
  end

  # A breakpoint that is taken out while a thread stands in it, or in another of its file, takes Ruby down with it (3.1).
  # It is deaf at once, and gone when the program runs.
  module Retired
    def delete
      return super if oneshot?

      @deleted = true
      @cond = 'false'
      RETIRED << @tp if @tp
    end
  end

  # Values without parts: the debugger shows a class and an encoding as if they were some.
  module Plain
    def variable(name, value, *rest)
      told = super
      case value
      when Numeric, String, Symbol, nil, true, false then told[:variablesReference] = 0
      end
      told
    end
  end

  # Two threads that stop in one moment: before 1.5 the debugger dies of the second. It waits for its turn here, and
  # stands until then.
  module Turns
    def process_event(evt)
      _, _, event, _, first = evt
      return super unless event == :suspend && first != :replay && in_subsession?

      (@waiting ||= []) << evt
    end

    private

    def restart_all_threads
      @thread_stopper.disable if @thread_stopper.enabled?
      standing = (@waiting || []).map(&:first)
      waiting_thread_clients.each { |client| client << :continue unless client == @tc || standing.include?(client) }
    end

    def leave_subsession(type)
      super
      following = @waiting&.shift
      @q_evt << following if following
    end
  end

  def self.libraries
    own = RbConfig::CONFIG.values_at('rubylibdir', 'sitelibdir', 'vendorlibdir', 'vendordir').compact
    folders = own + Gem.path + ['/usr/share/rubygems-integration']
    [*folders.uniq.map { |it| /\A#{Regexp.escape(it)}/ }, /\A<internal:/, /\A#{Regexp.escape(__FILE__)}/]
  end

  def self.begin_session(ui)
    # Later ones take it from a block.
    arity = DEBUGGER__.method(:initialize_session).arity
    arity == 1 ? DEBUGGER__.initialize_session(ui) : DEBUGGER__.initialize_session { ui }
  end

  def self.boot
    port = ENV.delete('HOLDPOINT_RUBY_PORT').to_i
    entry = ENV.delete('HOLDPOINT_RUBY_ENTRY')
    own = ENV.delete('HOLDPOINT_RUBY_OWN') == '1'
    require 'debug/session'
    require 'debug/server'
    config = { log_level: :ERROR, no_rc: true, no_color: true, fork_mode: :parent }
    config[:skip_path] = libraries if own
    DEBUGGER__::CONFIG.set_config(**config)
    ui = Dialling.new_ui(port)
    mend(ui)
    begin_session(ui)
    prepare
    # What was printed is to be seen when the program stops, not when a buffer is full.
    $stdout.sync = true
    READY << true
    sleep 0.001 until ui.instance_variable_get(:@q_msg)
    DEBUGGER__.add_line_breakpoint(entry, 0, oneshot: true, hook_call: false) if entry
    # Until all is set.
    DEBUGGER__::ThreadClient.current.on_init('holdpoint')
  end

  # The same for a program that ran before and opened its debugger itself.
  def self.join(own)
    return :joined if ui

    DEBUGGER__::CONFIG.set_config(skip_path: libraries) if own
    mend(session.instance_variable_get(:@ui))
    prepare
    ui.send_event('capabilities', capabilities: CAN)
    :joined
  end

  def self.prepare
    session.singleton_class.prepend(Loading)
    DEBUGGER__::ThreadClient.prepend(Plain)
    DEBUGGER__::LineBreakpoint.prepend(Retired)
    session.singleton_class.prepend(Turns) if Gem::Version.new(DEBUGGER__::VERSION) < Gem::Version.new('1.5')
    watch
    retire
    note_frames
    at_exit { at_the_end }
  end
end

HoldpointInside.boot if ENV['HOLDPOINT_RUBY_PORT']
